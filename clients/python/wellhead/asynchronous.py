"""The same client for asyncio: each request waits in a thread, so that the loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from .async_operations import AsyncOperations
from .client import Client, Interval, Moment
from .models import PriceRow
from .models import WindowedPricesDataPricesItem as HistoryRow


class AsyncClient(AsyncOperations):
    """`Client` for asyncio, with the same arguments; `async with` closes it.

    Streams have no end and would keep a thread for good: read them with `Client.stream` in a thread of your own.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self.client = Client(*args, **options)
        super().__init__(self.client)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.client.close()

    async def latest(self, *codes: str) -> list[PriceRow]:
        """See `Client.latest`."""
        return await asyncio.to_thread(self.client.latest, *codes)

    def history(
        self,
        *codes: str,
        start: Moment | None = None,
        end: Moment | None = None,
        interval: Interval | None = None,
        as_of: Moment | None = None,
    ) -> AsyncIterator[HistoryRow]:
        """See `Client.history`."""
        return self._iterate(self.client.history(*codes, start=start, end=end, interval=interval, as_of=as_of))
