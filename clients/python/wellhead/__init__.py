"""Client for the Wellhead energy price data service.

    from wellhead import Client

    client = Client("http://127.0.0.1:8470", "<API_KEY>")
    for price in client.latest("WTI_USD", "BRENT_CRUDE_USD"):
        print(price["code"], price["price"], price["currency"])
"""

from .asynchronous import AsyncClient
from .client import Client
from .errors import (
    ApiError,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    InvalidWebhook,
    NotFound,
    QuotaExceeded,
    RateLimited,
    Unauthorized,
    Unavailable,
    WellheadError,
)
from .stream import StreamEvent
from .version import VERSION as __version__
from .webhooks import Event, verify_webhook

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "ConnectionFailed",
    "Event",
    "Forbidden",
    "InvalidRequest",
    "InvalidWebhook",
    "NotFound",
    "QuotaExceeded",
    "RateLimited",
    "StreamEvent",
    "Unauthorized",
    "Unavailable",
    "WellheadError",
    "__version__",
    "verify_webhook",
]
