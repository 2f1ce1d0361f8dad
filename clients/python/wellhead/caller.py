"""What the operations stand on: one request, the pages of a list, the rows of all pages."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from .transport import Answer, Transport, Value, path_of

_ROWS_PER_PAGE = 100
_END = object()
_T = TypeVar("_T")


class Caller:
    """Calls operations through a transport."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def _call(
        self,
        method: str,
        template: str,
        *,
        path: Mapping[str, Value] | None = None,
        query: Mapping[str, Value | None] | None = None,
        headers: Mapping[str, Value | None] | None = None,
        body: Any = None,
        takes_idempotency_key: bool = False,
    ) -> Any:
        sent = {name: None if value is None else str(value) for name, value in (headers or {}).items()}
        if takes_idempotency_key and sent.get("Idempotency-Key") is None:
            # With a key of its own the request may be sent again: it is done once however often it arrives.
            sent["Idempotency-Key"] = str(uuid.uuid4())
        answer = self.transport.request(method, path_of(template, path or {}), query=query, body=body, headers=sent)
        return answer.value()

    def _pages(
        self, template: str, query: Mapping[str, Value | None], path: Mapping[str, Value] | None = None
    ) -> Iterator[Answer]:
        page = 1
        while True:
            whole: dict[str, Value | None] = {"per_page": _ROWS_PER_PAGE, **query, "page": page}
            answer = self.transport.request("GET", path_of(template, path or {}), query=whole)
            yield answer
            if answer.headers.get("x-has-next") != "true":
                return
            page += 1

    def _rows(
        self,
        template: str,
        keys: Sequence[str],
        query: Mapping[str, Value | None],
        path: Mapping[str, Value] | None = None,
    ) -> Iterator[Any]:
        for answer in self._pages(template, query, path):
            rows = answer.value()
            for key in keys:
                rows = rows[key]
            yield from rows


class AsyncCaller:
    """Calls operations in threads, so that the loop of asyncio goes on."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def _call(self, method: str, template: str, **options: Any) -> Any:
        return await asyncio.to_thread(self._caller._call, method, template, **options)

    def _rows(self, *args: Any) -> AsyncIterator[Any]:
        return self._iterate(self._caller._rows(*args))

    async def _iterate(self, items: Iterator[_T]) -> AsyncIterator[_T]:
        while True:
            item: Any = await asyncio.to_thread(lambda: next(items, _END))
            if item is _END:
                return
            yield item
