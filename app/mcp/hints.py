"""How long a server lets its answer be kept: ``ttlMs`` of protocol 2026-07-28.

``cacheScope`` needs no code: whatever it says, nothing is kept for another credential.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

# ``ttlMs`` 0 is what the official servers say when nobody chose, and a page of ten panels, or a
# view that polls, would have everything listed again for each of them.
LEAST_SECONDS: Final = 3


def fresh_seconds(result: Mapping[str, Any]) -> float:
    """For how long ``result`` is fresh; infinite where it says nothing that can be read."""
    ttl = result.get("ttlMs")
    if not isinstance(ttl, int | float) or isinstance(ttl, bool):
        return math.inf
    try:
        seconds = ttl / 1_000
    except OverflowError:  # an integer of hundreds of digits
        return math.inf if ttl > 0 else LEAST_SECONDS
    return math.inf if math.isnan(seconds) else max(seconds, LEAST_SECONDS)
