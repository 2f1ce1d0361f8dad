"""Server-sent events that go on where they were broken off."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from .errors import ConnectionFailed
from .transport import Answer, Transport, _refusal

#: The service sends a sign of life every 15 seconds; twice that without one is a broken connection.
_SILENCE_S = 40.0
_RECONNECT_S = 3.0
_LONGEST_RECONNECT_S = 60.0


@dataclass(frozen=True)
class StreamEvent:
    """One event: `id` is where to go on after it, `type` its name, `data` what it says."""

    id: str
    type: str
    data: Any


def stream_events(
    transport: Transport,
    path: str,
    *,
    since: str | None,
    reconnects: int | None,
    sleep: Callable[[float], None] = time.sleep,
) -> Generator[StreamEvent, None, None]:
    """The events of a stream, without end. A broken connection is opened again after the last event that was received.

    `reconnects` bounds how often in a row that may fail; None: no bound. A refusal that waiting does not mend raises
    its ApiError.
    """
    last_id = since
    reconnect_s = _RECONNECT_S
    failures = 0
    while True:
        connection = transport.open_connection()
        connection.timeout = _SILENCE_S
        try:
            headers = {"Accept": "text/event-stream"}
            if last_id is not None:
                headers["Last-Event-ID"] = last_id
            connection.request("GET", transport.target(path), headers=transport.headers(headers))
            response = connection.getresponse()
            if response.status >= 400:
                answer = Answer(
                    response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
                )
                error, may_retry = _refusal(answer)
                # A place that another stream of the key has is free when that one ends.
                if not may_retry or (reconnects is not None and failures >= reconnects):
                    raise error
                wait_s = error.retry_after if error.retry_after is not None else reconnect_s
            else:
                for block in _blocks(response):
                    failures = 0
                    last_id = block.get("id", last_id)
                    if block.get("retry", "").isdigit():
                        reconnect_s = int(block["retry"]) / 1000
                    if "data" in block:
                        yield StreamEvent(last_id or "", block.get("event", "message"), json.loads(block["data"]))
                wait_s = reconnect_s
        except (OSError, http.client.HTTPException) as failure:
            if reconnects is not None and failures >= reconnects:
                raise ConnectionFailed(f"GET {path}: {failure or type(failure).__name__}") from failure
            wait_s = min(_LONGEST_RECONNECT_S, reconnect_s * 2**failures)
        finally:
            connection.close()
        failures += 1
        sleep(wait_s)


def _blocks(response: http.client.HTTPResponse) -> Iterator[dict[str, str]]:
    """The fields of each block of a stream; comments are signs of life only."""
    fields: dict[str, str] = {}
    while True:
        line = response.readline()
        if not line:
            return
        text = line.decode("utf-8").rstrip("\r\n")
        if text == "":
            if fields:
                yield fields
            fields = {}
            continue
        if text.startswith(":"):
            continue
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
