"""Receiving webhooks: whether a delivery comes from the service."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any, TypedDict

from .errors import InvalidWebhook

#: How far the signature's time may be from now, in seconds.
TOLERANCE_S = 300


class Event(TypedDict):
    """A delivery: the same `id` on every retry, so that one that was seen before can be ignored."""

    id: str
    type: str
    event: str
    created_at: str
    data: dict[str, Any]


def verify_webhook(
    secret: str,
    body: bytes | str,
    headers: Mapping[str, str],
    *,
    now: float | None = None,
    tolerance_s: float = TOLERANCE_S,
    header_prefix: str = "X-Service-",
) -> Event:
    """The event of a delivery, once its signature has been checked.

    `body` is the raw body as it was received: JSON that was parsed and written again has other bytes. Raises
    InvalidWebhook. Any of the signatures that the service sends is enough: the Standard Webhooks headers, or
    `<prefix>Signature` in either scheme.
    """
    content = body.encode("utf-8") if isinstance(body, str) else bytes(body)
    names = {name.lower(): value for name, value in headers.items()}
    prefix = header_prefix.lower()
    timestamp = names.get("webhook-timestamp") or names.get(f"{prefix}signature-timestamp") or ""
    if not timestamp.isascii() or not timestamp.isdigit():
        raise InvalidWebhook("the delivery has no signature timestamp")
    moment = time.time() if now is None else now
    if abs(moment - int(timestamp)) > tolerance_s:
        raise InvalidWebhook(f"the delivery was signed more than {tolerance_s:g} s from now")
    own = names.get(f"{prefix}signature", "")
    is_standard = _has_standard(secret, names.get("webhook-id", ""), timestamp, content, names.get("webhook-signature", ""))
    if not is_standard and not _has_own(secret, timestamp, content, own):
        raise InvalidWebhook("the delivery is not signed with this secret")
    try:
        event: Event = json.loads(content)
    except ValueError as failure:
        raise InvalidWebhook("the delivery is signed, and its body is no JSON") from failure
    return event


def _has_own(secret: str, timestamp: str, content: bytes, signature: str) -> bool:
    key = secret.encode("utf-8")
    timestamped = hmac.new(key, content + b"." + timestamp.encode("ascii"), hashlib.sha256).hexdigest()
    plain = "sha256=" + hmac.new(key, content, hashlib.sha256).hexdigest()
    sent = signature.encode("utf-8")
    is_timestamped = hmac.compare_digest(timestamped.encode("ascii"), sent)
    return hmac.compare_digest(plain.encode("ascii"), sent) or is_timestamped


def _has_standard(secret: str, event_id: str, timestamp: str, content: bytes, signatures: str) -> bool:
    message = f"{event_id}.{timestamp}.".encode("utf-8") + content
    digest = hmac.new(_standard_key(secret), message, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # While a secret is being replaced, one signature stands for each.
    return any([hmac.compare_digest(expected, item.encode("utf-8")) for item in signatures.split(" ")])


def _standard_key(secret: str) -> bytes:
    """What is written after the prefix, read as base64; a secret that is not base64 is its own bytes."""
    written = secret.removeprefix("whsec_")
    try:
        return base64.b64decode(written, validate=True) or secret.encode("utf-8")
    except binascii.Error:
        return secret.encode("utf-8")
