"""The client: every operation of the interface, and what is made of several of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, TextIO

from .errors import NotFound
from .models import Change, PriceRow
from .models import WindowedPricesDataPricesItem as HistoryRow
from .operations import Operations
from .stream import StreamEvent, stream_events
from .transport import RetryPolicy, Transport, Value
from .version import VERSION

Moment = str | date | datetime
Interval = Literal["raw", "minute", "hour", "day", "week", "month"]

_FRAME_COLUMNS = ("code", "created_at", "price", "currency", "unit", "open", "high", "low", "average", "sample_count")
_RAW_COLUMNS = ("code", "created_at", "price", "currency", "unit")


class Client(Operations):
    """A client of one service with one key.

    `url` and `api_key` come from WELLHEAD_URL and WELLHEAD_API_KEY where they are not given. The operator's token in
    place of a key opens the operations under `/admin/v1`. Methods raise ApiError (see `wellhead.errors`) for a refusal
    and ConnectionFailed where no answer came. A client may be shared between threads.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout_s: float = 30.0,
        retries: int = 3,
        longest_wait_s: float = 60.0,
        user_agent: str = f"wellhead-python/{VERSION}",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._sleep = sleep
        transport = Transport(
            url or os.environ.get("WELLHEAD_URL") or "http://127.0.0.1:8470",
            api_key or os.environ.get("WELLHEAD_API_KEY"),
            timeout_s=timeout_s,
            policy=RetryPolicy(retries=retries, longest_wait_s=longest_wait_s),
            user_agent=user_agent,
            sleep=sleep,
        )
        super().__init__(transport)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept."""
        self.transport.close()

    def latest(self, *codes: str) -> list[PriceRow]:
        """The newest price of each code, in the order asked; as many codes as you like, 20 to a request.

        A code that has no price is left out. An unknown one raises InvalidRequest.
        """
        rows: list[PriceRow] = []
        for start in range(0, len(codes), 20):
            try:
                data: Any = self.get_latest_prices(by_code=codes[start : start + 20])["data"]
            except NotFound:
                # One code alone that has no price.
                continue
            rows.extend(data["prices"] if "prices" in data else [data])
        return rows

    def history(
        self,
        *codes: str,
        start: Moment | None = None,
        end: Moment | None = None,
        interval: Interval | None = None,
        as_of: Moment | None = None,
    ) -> Iterator[HistoryRow]:
        """The prices of the codes (at most 20) in a range, newest first, over all pages.

        Codes with several prices a day have bars: without `interval`, of an hour in a range of more than a day and of
        a day in one of more than a week; with "raw", of an hour in one of more than 31 days. `export_prices` has every
        price of any range.

        `start` and `end` are inclusive; without them, the last 30 days. `as_of` answers the raw prices as the service
        would have answered them at that moment; revisions that came later are not in it.
        """
        if as_of is None:
            return self.iter_historical_prices(by_code=codes, start_date=start, end_date=end, interval=interval)
        if interval not in (None, "raw"):
            raise ValueError(f"interval: {interval!r} must be 'raw' or absent with as_of")
        return self.iter_prices_past_month(
            by_code=codes, start_date=start, end_date=end, interval="raw", as_of=as_of
        )

    def changes(self, *codes: str, since: str = "start") -> Iterator[Change]:
        """Every change of a value after a cursor, in the order of recording, up to the newest.

        Keep the `cursor` of each with what you have made of it, and send the last as `since` the next time. Without
        codes: every code.
        """
        while True:
            data = self.list_changes(since=since, codes=codes or None, limit=10_000)["data"]
            yield from data["changes"]
            if not data["has_more"]:
                return
            since = data["cursor"]

    def frame(
        self,
        *codes: str,
        start: Moment | None = None,
        end: Moment | None = None,
        interval: Interval = "day",
        as_of: Moment | None = None,
        library: Literal["pandas", "polars"] | None = None,
    ) -> Any:
        """The history as a data frame of pandas or polars, oldest row first, one row for each code and time."""
        from .frames import frame_of

        columns = _RAW_COLUMNS if as_of is not None or interval == "raw" else _FRAME_COLUMNS
        rows = self.history(*codes, start=start, end=end, interval=None if as_of else interval, as_of=as_of)
        return frame_of(rows, columns, library)

    def export_csv(
        self,
        target: str | Path | TextIO,
        *codes: str,
        start: Moment | None = None,
        end: Moment | None = None,
        interval: Interval | None = None,
    ) -> int:
        """Writes the history of the codes as CSV, newest first, with one header line; answers the number of rows."""
        if isinstance(target, (str, Path)):
            with open(target, "w", encoding="utf-8", newline="") as file:
                return self.export_csv(file, *codes, start=start, end=end, interval=interval)
        rows = 0
        query: dict[str, Value | None] = {"by_code": codes, "start_date": start, "end_date": end, "interval": interval, "format": "csv"}
        for answer in self._pages("/v1/prices/historical", query):
            header, _, lines = answer.content.decode("utf-8").partition("\n")
            target.write(f"{header}\n{lines}" if rows == 0 else lines)
            rows += lines.count("\n")
        return rows

    def stream(self, *, since: int | str | None = None, reconnects: int | None = None) -> Generator[StreamEvent, None, None]:
        """The events of the account's watches as they come, without end.

        `since` is the `id` to go on after; None: only what comes from now on. A connection that breaks is opened again
        where it was; nothing is missed and nothing comes twice. `reconnects` bounds how often in a row that may fail.
        """
        first = str(self.get_last_watch_event()) if since is None else str(since)
        return stream_events(
            self.transport, "/v1/stream", since=first, reconnects=reconnects, sleep=self._sleep
        )

    def get_last_watch_event(self) -> int:
        """The `id` of the newest event of the account's watches; 0 where there is none."""
        cursor = 0
        while True:
            data = self.list_watch_events(since=cursor, limit=500)["data"]
            cursor = data["cursor"]
            if not data["has_more"]:
                return cursor
