from __future__ import annotations

from typing import Any

import pytest

pytest_plugins = ["wellhead.pytest_plugin"]


@pytest.fixture(scope="session")
def wellhead_options() -> dict[str, Any]:
    return {"clock": "2026-11-20T15:00:00Z", "seed": 7, "world": "small"}
