"""Every way out of a view that we know of."""

from e2e.exfiltration.ways.frames import FRAMES
from e2e.exfiltration.ways.markup import MARKUP
from e2e.exfiltration.ways.navigation import NAVIGATION
from e2e.exfiltration.ways.requests import REQUESTS
from e2e.exfiltration.ways.styles import STYLES
from e2e.exfiltration.ways.way import Way
from e2e.exfiltration.ways.webrtc import WEBRTC

ALL: list[Way] = [*MARKUP, *STYLES, *REQUESTS, *NAVIGATION, *FRAMES, *WEBRTC]
BY_NAME = {way.name: way for way in ALL}
assert len(BY_NAME) == len(ALL), "each way has a name of its own"
