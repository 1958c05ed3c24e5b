"""Errors that reach a person: a status and one sentence, raised near the rule that was broken.

``app.web.errors`` renders them, in one place, as a page, an htmx fragment or JSON.
"""


class VitrineError(Exception):
    """``status`` is the HTTP status; ``sentence`` is shown to the person as it is.

    The sentence never holds a secret; third-party text in it is escaped where it is rendered.
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


class NotFoundError(VitrineError):
    def __init__(self, sentence: str) -> None:
        super().__init__(404, sentence)
