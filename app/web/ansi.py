"""Terminal escape sequences in the output of tools."""

import re
from typing import Final

# ECMA-48: CSI; OSC, DCS, SOS, PM and APC up to their terminator; two-byte escapes; C1 controls.
_SEQUENCE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)


def strip_escapes(text: str) -> str:
    """``text`` without escape sequences and without the carriage return of a line's end. A lone
    escape character stays, to be made visible.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _SEQUENCE.sub("", text)
    return text.replace("\r\n", "\n")
