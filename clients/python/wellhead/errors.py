"""What can go wrong: every error of this package is a WellheadError."""

from __future__ import annotations

from typing import Any


class WellheadError(Exception):
    """Anything that this package raises on its own account."""


class ConnectionFailed(WellheadError):
    """The service could not be reached, or the connection broke before its answer was complete."""


class InvalidWebhook(WellheadError):
    """A delivery is not signed with the secret, was signed too long ago, or is no event."""


class ApiError(WellheadError):
    """The service refused a request.

    `status` is the HTTP status, `code` the stable code of the documentation, `body` the whole answer (JSON, else text),
    `retry_after` the seconds after which the service will take the request again, where it says so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        body: Any = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.body = body
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        suffix = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status} {self.code}: {self.message}{suffix}"


class InvalidRequest(ApiError):
    """400, 413, 422: a parameter or a field has a value that it can not have; the message names it."""


class Unauthorized(ApiError):
    """401: the key is missing, unknown, expired or revoked."""


class Forbidden(ApiError):
    """403: the plan, the key's restrictions or the person's role do not allow it."""


class NotFound(ApiError):
    """404: there is no such thing, or no data to answer with."""


class QuotaExceeded(ApiError):
    """402, 429: the quota of the day, the month or the trial is used up. It is not retried."""


class RateLimited(ApiError):
    """429: too many requests in a short time, also after the retries."""


class Unavailable(ApiError):
    """5xx: the service could not answer, also after the retries."""


def error_class(status: int, is_exhausted: bool) -> type[ApiError]:
    """The class of an error by its status; `is_exhausted` says that a quota is used up."""
    if status == 402 or (status == 429 and is_exhausted):
        return QuotaExceeded
    if status >= 500:
        return Unavailable
    return {401: Unauthorized, 403: Forbidden, 404: NotFound, 429: RateLimited}.get(status, InvalidRequest)
