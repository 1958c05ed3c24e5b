"""What a view may use of the reader's device, and what it asked for in vain.

A resource asks in ``_meta.ui.permissions`` (SEP-1865); the operator allows, server by server. What
a browser never gives to a document without an origin of its own is said before the view fails.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

# By the specification's names, with what a person calls them.
PERMISSIONS: Final[Mapping[str, str]] = {
    "geolocation": "this device’s location",
    "clipboardWrite": "writing to the clipboard",
    "camera": "the camera",
    "microphone": "the microphone",
}
# Measured with Chromium 156: getUserMedia refuses an opaque origin, whatever the frame is allowed.
NEVER: Final = frozenset({"camera", "microphone"})
# What an operator can choose.
CHOICES: Final[Mapping[str, str]] = {
    name: what for name, what in PERMISSIONS.items() if name not in NEVER
}
_FEATURES: Final[Mapping[str, str]] = {
    "geolocation": "geolocation",
    "clipboardWrite": "clipboard-write",
}
# Whatever else a browser may know is closed by the frame, which names what it gives.
_CLOSED: Final = ("camera", "display-capture", "microphone", "payment", "usb")
_MOST_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Permissions:
    """``granted`` are names of the specification that work; ``refused`` are sentences."""

    granted: tuple[str, ...]
    refused: tuple[str, ...]


def judge(declared: object, allowed: Collection[str]) -> Permissions:
    """What a resource that declared ``declared`` gets from a server that is allowed ``allowed``."""
    if not isinstance(declared, Mapping):
        return Permissions((), ())
    granted, refused = [], []
    for name, what in PERMISSIONS.items():
        if not isinstance(declared.get(name), Mapping):
            continue
        if name in NEVER:
            refused.append(
                f"This view asks for {what}. Browsers give it to no sandboxed view, so what "
                "needs it will fail."
            )
        elif name in allowed:
            granted.append(name)
        else:
            refused.append(
                f"This view asks for {what}, which its server is not allowed. What needs it will "
                "fail."
            )
    unknown = [name for name in declared if name not in PERMISSIONS][:_MOST_SHOWN]
    refused += [f"This view asks for {name!r}, which this host does not know." for name in unknown]
    return Permissions(tuple(granted), tuple(refused))


def header(granted: Collection[str]) -> str:
    """The document's own ``Permissions-Policy``. The frame's ``allow`` attribute gives the same;
    this one holds also where the document is opened by other means.
    """
    # ``*``, for an opaque origin is in no other list. A frame inside the view gets a feature only
    # if the view hands it on.
    given = [f"{feature}={'*' if name in granted else '()'}" for name, feature in _FEATURES.items()]
    return ", ".join([*given, *(f"{feature}=()" for feature in _CLOSED)])
