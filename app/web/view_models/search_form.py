"""The form of a search: what was asked, and what can be chosen from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from app.text import one_line
from app.web.asked import Asked


@dataclass(frozen=True, slots=True)
class SearchForm:
    """``agents`` have their labels, ``folders`` are as recorded."""

    asked: Asked
    agents: Mapping[str, str]
    folders: list[str]

    @classmethod
    def of(cls, asked: Asked, agents: Mapping[str, str], folders: list[str]) -> Self:
        if asked.folder and asked.folder not in folders:
            folders = [asked.folder, *folders]
        return cls(asked, agents, folders)

    def label(self, folder: str) -> str:
        return one_line(folder, 120)
