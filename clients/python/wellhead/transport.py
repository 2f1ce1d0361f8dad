"""Requests over kept connections, with retries by the rules that the service documents."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Union
from urllib.parse import quote, urlencode, urlsplit

from .errors import ApiError, ConnectionFailed, error_class

#: What a parameter may be. Times need a zone; lists are sent separated by commas.
Value = Union[str, int, float, bool, date, datetime, Sequence[str]]

_IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE"})
#: Answers of the service or of a proxy in front of it that may be better a moment later.
_RETRYABLE_STATUSES = frozenset({429, 500, 502, 503, 504})
_FIRST_WAIT_S = 0.5
_LONGEST_UNASKED_WAIT_S = 8.0


@dataclass(frozen=True)
class RetryPolicy:
    """How often a request is tried again, and how long a wait the service may ask for.

    Requests that change something are tried again only with an Idempotency-Key. A wait that the service asks for
    (`Retry-After`) is kept; one longer than `longest_wait_s` is not waited for: the error says how long it would be.
    """

    retries: int = 3
    longest_wait_s: float = 60.0


@dataclass(frozen=True)
class Answer:
    """A complete answer below 400. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def value(self) -> Any:
        """The body by its content type: JSON as values, other text as str, anything else as bytes, nothing as None."""
        if not self.content:
            return None
        media = self.headers.get("content-type", "")
        if "json" in media:
            return json.loads(self.content)
        return self.content.decode("utf-8") if media.startswith("text/") or "xml" in media else self.content


def text_of(value: Value) -> str:
    """A parameter as it is sent."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone: use datetime(..., tzinfo=timezone.utc)")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (str, int, float)):
        return str(value)
    return ",".join(text_of(item) for item in value)


def path_of(template: str, parameters: Mapping[str, Value]) -> str:
    """`/v1/commodities/{code}` with its parameters filled in."""
    path = template
    for name, value in parameters.items():
        path = path.replace("{" + name + "}", quote(text_of(value), safe=""))
    return path


def retry_after_of(text: str | None, now: float) -> float | None:
    """Seconds of a Retry-After header, which may also be a date."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (TypeError, ValueError):
        return None


class Transport:
    """One service, one key. Safe to use from several threads: each has a connection of its own."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        timeout_s: float,
        policy: RetryPolicy,
        user_agent: str,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"url: {url!r} must be an address such as http://127.0.0.1:8470")
        self._is_secure = address.scheme == "https"
        self._host = address.hostname
        self._port = address.port
        self._base_path = address.path.rstrip("/")
        self._timeout_s = timeout_s
        self._policy = policy
        self._sleep = sleep
        self._headers = {"Accept": "application/json", "User-Agent": user_agent}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._local = threading.local()
        self._connections: weakref.WeakSet[http.client.HTTPConnection] = weakref.WeakSet()

    def open_connection(self) -> http.client.HTTPConnection:
        """A connection of the caller's own, who closes it."""
        if self._is_secure:
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout_s)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)

    def headers(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**self._headers, **(extra or {})}

    def target(self, path: str, query: Mapping[str, Value | None] | None = None) -> str:
        pairs = [(name, text_of(value)) for name, value in (query or {}).items() if value is not None]
        return f"{self._base_path}{path}" + (f"?{urlencode(pairs)}" if pairs else "")

    def close(self) -> None:
        """Closes the connections that are kept, those of other threads too."""
        for connection in list(self._connections):
            connection.close()
        self._forget()

    def _forget(self) -> None:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Value | None] | None = None,
        body: Any = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """Sends a request and answers what came back; raises ApiError for a refusal and ConnectionFailed for none."""
        sent = self.headers({name: value for name, value in (headers or {}).items() if value is not None})
        content = None
        if body is not None:
            content = json.dumps(body, allow_nan=False).encode("utf-8")
            sent["Content-Type"] = "application/json"
        is_idempotent = method in _IDEMPOTENT_METHODS or "Idempotency-Key" in sent
        target = self.target(path, query)
        attempt = 0
        while True:
            try:
                answer = self._attempt(method, target, content, sent, is_idempotent)
            except (OSError, http.client.HTTPException) as failure:
                if not is_idempotent or attempt >= self._policy.retries:
                    message = f"{method} {path}: {failure or type(failure).__name__}"
                    raise ConnectionFailed(message) from failure
                wait_s = self._unasked_wait_s(attempt)
            else:
                if answer.status < 400:
                    return answer
                error, may_retry = _refusal(answer)
                if not may_retry or not is_idempotent or attempt >= self._policy.retries:
                    raise error
                retry_after = error.retry_after
                wait_s = self._unasked_wait_s(attempt) if retry_after is None else retry_after
                if wait_s > self._policy.longest_wait_s:
                    raise error
            attempt += 1
            self._sleep(wait_s)

    def _attempt(
        self, method: str, target: str, content: bytes | None, headers: Mapping[str, str], is_idempotent: bool
    ) -> Answer:
        # A kept connection may have been closed by the other side. Whether a request on it was taken can not be told,
        # so what must not happen twice goes out on a new one.
        if not is_idempotent:
            self._forget()
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        is_kept = connection is not None
        if connection is None:
            connection = self._local.connection = self.open_connection()
            self._connections.add(connection)
        try:
            return self._exchange(connection, method, target, content, headers)
        except (OSError, http.client.HTTPException) as failure:
            self._forget()
            if is_kept and isinstance(failure, ConnectionError):
                return self._attempt(method, target, content, headers, is_idempotent)
            raise

    @staticmethod
    def _exchange(
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        content: bytes | None,
        headers: Mapping[str, str],
    ) -> Answer:
        connection.request(method, target, body=content, headers=dict(headers))
        response = connection.getresponse()
        received = response.read()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, received)

    @staticmethod
    def _unasked_wait_s(attempt: int) -> float:
        """Twice as long each time, and a little different for each client."""
        longest_s: float = min(_LONGEST_UNASKED_WAIT_S, _FIRST_WAIT_S * 2**attempt)
        return longest_s * random.uniform(0.5, 1.0)


def _refusal(answer: Answer) -> tuple[ApiError, bool]:
    """The error of a refusal, and whether the service may take the same request later."""
    try:
        body: Any = json.loads(answer.content) if answer.content else None
    except ValueError:
        body = answer.content.decode("utf-8", "replace")
    fields = body if isinstance(body, dict) else {}
    nested = fields.get("error")
    inner = nested if isinstance(nested, dict) else fields
    headers = answer.headers
    code = inner.get("code") or fields.get("code") or headers.get("x-error-code") or f"HTTP_{answer.status}"
    message = inner.get("message") or fields.get("message") or f"the service answered {answer.status}"
    is_exhausted = headers.get("x-ratelimit-state") == "exhausted" and code != "RATE_LIMIT_EXCEEDED"
    retry = inner.get("retry")
    error = error_class(answer.status, is_exhausted)(
        str(message),
        status=answer.status,
        code=str(code),
        body=body,
        request_id=headers.get("x-request-id"),
        retry_after=retry_after_of(headers.get("retry-after"), time.time()),
    )
    is_retryable = answer.status in _RETRYABLE_STATUSES
    if isinstance(retry, dict) and "retryable" in retry:
        is_retryable = bool(retry["retryable"])
    return error, is_retryable and not is_exhausted
