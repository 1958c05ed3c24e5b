"""Reading ``_meta.ui`` of a resource: third-party JSON of which nothing is certain."""

from collections.abc import Mapping
from typing import Any


def ui_meta(item: object) -> Mapping[str, Any] | None:
    """``item["_meta"]["ui"]`` when it is an object, else ``None``."""
    meta = item.get("_meta") if isinstance(item, Mapping) else None
    ui = meta.get("ui") if isinstance(meta, Mapping) else None
    return ui if isinstance(ui, Mapping) else None
