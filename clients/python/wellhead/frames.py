"""Rows as data frames of pandas or polars, whichever is installed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

#: Columns that hold moments.
_TIMES = ("created_at", "updated_at", "bucket_start")


def instant(text: str) -> datetime:
    """A timestamp of the service."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def frame_of(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], library: str | None) -> Any:
    """A frame with these columns, oldest row first; times are in UTC. `library`: `pandas`, `polars`, or None for either."""
    names = [library] if library else ["pandas", "polars"]
    if not set(names) <= {"pandas", "polars"}:
        raise ValueError(f"library: {library!r} must be 'pandas' or 'polars'")
    module = _first_installed(names)
    ordered = sorted(rows, key=lambda row: (row["created_at"], row["code"]))
    data: dict[str, list[Any]] = {}
    for name in columns:
        values = [row.get(name) for row in ordered]
        data[name] = [instant(value) if value is not None else None for value in values] if name in _TIMES else values
    return module.DataFrame(data)


def _first_installed(names: Sequence[str]) -> Any:
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError(f"a frame needs {' or '.join(names)}: pip install {names[0]}")
