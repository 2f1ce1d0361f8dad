"""pytest fixtures: `wellhead` is a running evaluation copy that forgets after each test what the test did to it.

`wellhead_options` may be overridden in a conftest.py: a dict of the arguments of `start_wellhead`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .testkit import Copy, start_wellhead


@pytest.fixture(scope="session")
def wellhead_options() -> dict[str, Any]:
    """The arguments of `start_wellhead`."""
    return {}


@pytest.fixture(scope="session")
def wellhead_copy(wellhead_options: dict[str, Any]) -> Iterator[Copy]:
    """One evaluation copy for the whole session, with whatever the tests do to it."""
    with start_wellhead(**wellhead_options) as copy:
        yield copy


@pytest.fixture
def wellhead(wellhead_copy: Copy) -> Iterator[Copy]:
    """The copy of the session, in the state of its start for each test."""
    with wellhead_copy.kept():
        yield wellhead_copy
