from __future__ import annotations

import asyncio
import importlib.util
import inspect
import io
import json
import re
import socket
import threading
import unittest
from datetime import date, datetime, timezone
from itertools import islice
from typing import Any

from running import API_KEY, URL, CuttingProxy, Naps, Receiver, RunningCase
from wellhead import (
    AsyncClient,
    Client,
    ConnectionFailed,
    InvalidRequest,
    InvalidWebhook,
    NotFound,
    QuotaExceeded,
    RateLimited,
    Unauthorized,
    Unavailable,
    verify_webhook,
)

#: Pages for people, sockets and what other programs send: no operations of a client.
LEFT_OUT = {
    "openCable",
    "streamWatchEvents",
    "getOpenApiDocument",
    "getDocumentationPage",
    "getSwaggerPage",
    "receiveProcessorEvent",
    "sendMcpMessage",
}


def snake(text: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).lower()


class Document(RunningCase):
    def setUp(self) -> None:
        super().setUp()
        self.document: dict[str, Any] = self.client.transport.request("GET", "/openapi.json").value()
        self.operations = [
            (method, path, operation)
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
            if operation["operationId"] not in LEFT_OUT and not operation.get("x-internal")
        ]

    def names(self, operation: dict[str, Any]) -> set[str]:
        """The names of an operation's parameters; shared ones stand once, in the components."""
        shared = self.document["components"].get("parameters", {})
        given = operation.get("parameters", [])
        return {(shared[item["$ref"].rsplit("/", 1)[1]] if "$ref" in item else item)["name"] for item in given}

    def test_every_operation_of_the_running_service_is_a_method_with_its_parameters(self) -> None:
        self.assertGreater(len(self.operations), 200)
        for kind in (Client, AsyncClient):
            for _, _, operation in self.operations:
                method = getattr(kind, snake(operation["operationId"]))
                arguments = {name.rstrip("_") for name in inspect.signature(method).parameters}
                names = {snake(re.sub(r"\W+", "_", name).rstrip("_")) for name in self.names(operation)}
                self.assertLessEqual(names, arguments, operation["operationId"])

    def test_every_operation_that_answers_pages_can_be_iterated(self) -> None:
        paged = [
            snake(operation["operationId"])
            for _, _, operation in self.operations
            if "page" in self.names(operation)
        ]
        names = {name for name in dir(Client) if name.startswith("iter_")}
        expected = {"iter_" + re.sub("^(get|list)_", "", name) for name in paged}
        # One answers maps by category, which are no rows.
        self.assertEqual(expected - names, {"iter_all_prices"})


class Prices(RunningCase):
    def test_one_code_or_several_are_answered_as_rows_in_the_order_asked(self) -> None:
        self.assertEqual([row["code"] for row in self.client.latest("WTI_USD")], ["WTI_USD"])
        codes = ["BRENT_CRUDE_USD", "WTI_USD", "EUR_USD"]
        self.assertEqual([row["code"] for row in self.client.latest(*codes)], codes)

    def test_more_codes_than_one_request_takes_are_asked_for_in_several(self) -> None:
        codes = [item["code"] for item in self.client.get_commodities(category="crude_oil")["data"]]
        codes += [item["code"] for item in self.client.get_commodities(category="fx")["data"]]
        self.assertGreater(len(codes), 20)
        self.assertEqual([row["code"] for row in self.client.latest(*codes)], codes)

    def test_a_history_has_every_row_of_all_pages_once(self) -> None:
        rows = list(self.client.history("WTI_USD", start=date(2025, 1, 1), interval="day"))
        times = [row["created_at"] for row in rows]
        answer = self.client.get_historical_prices(by_code="WTI_USD", start_date="2025-01-01", interval="day")
        self.assertEqual(len(rows), answer["meta"]["total"])
        self.assertGreater(answer["meta"]["total_pages"], 3)
        self.assertEqual(times, sorted(set(times), reverse=True))

    def test_as_of_answers_what_was_known_then(self) -> None:
        # Each revision stands at a time of its own, because the service records in the order of its clock.
        observed = datetime(2026, 11, 20, 14, 52, tzinfo=timezone.utc)
        code = "DUBAI_CRUDE_USD"

        def record(price: float) -> str:
            row = {"code": code, "observed_at": "2026-11-20T14:52:00Z", "price": price}
            self.control("POST", "/admin/v1/observations", {"observations": [row]})
            known = self.advance("PT1M")
            self.advance("PT1M")
            return known

        known = record(71.01)
        record(72.02)
        now = next(self.client.history(code, start=observed, end=observed, interval="raw"))
        then = next(self.client.history(code, start=observed, end=observed, as_of=known))
        self.assertEqual((now["price"], then["price"]), (72.02, 71.01))

    def test_a_time_without_a_zone_is_refused_before_anything_is_sent(self) -> None:
        with self.assertRaisesRegex(ValueError, "no time zone"):
            next(self.client.history("WTI_USD", start=datetime(2026, 11, 1)))

    def test_an_export_is_one_csv_file_over_all_pages(self) -> None:
        file = io.StringIO()
        rows = self.client.export_csv(file, "WTI_USD", start="2026-01-01", interval="day")
        lines = file.getvalue().splitlines()
        self.assertGreater(rows, 200)
        self.assertEqual(len(lines), rows + 1)
        self.assertEqual(len(set(lines)), len(lines))
        self.assertTrue(lines[0].startswith("code,name,created_at,price"))

    def test_frames_have_a_row_a_day_oldest_first(self) -> None:
        libraries = [name for name in ("pandas", "polars") if importlib.util.find_spec(name)]
        if not libraries:
            self.skipTest("neither pandas nor polars is installed")
        for library in libraries:
            frame = self.client.frame("WTI_USD", start="2026-11-01", library=library)  # type: ignore[arg-type]
            rows = list(self.client.history("WTI_USD", start="2026-11-01", interval="day"))
            self.assertEqual(list(frame["price"]), [row["price"] for row in reversed(rows)])
            self.assertEqual(frame["created_at"][0].year, 2026)

    def test_a_frame_without_a_library_says_what_to_install(self) -> None:
        if importlib.util.find_spec("polars"):
            self.skipTest("polars is installed")
        with self.assertRaisesRegex(ImportError, "pip install polars"):
            self.client.frame("WTI_USD", start="2026-11-18", library="polars")

    def test_the_same_reads_work_under_asyncio(self) -> None:
        async def ask() -> tuple[list[str], int, str]:
            async with AsyncClient(URL, API_KEY) as client:
                latest = await client.latest("WTI_USD", "EUR_USD")
                rows = [row async for row in client.history("WTI_USD", start="2026-01-01", interval="day")]
                brent = await client.get_commodity("BRENT_CRUDE_USD")
                return [row["code"] for row in latest], len(rows), brent["data"]["code"]

        codes, count, brent = asyncio.run(ask())
        self.assertEqual((codes, brent), (["WTI_USD", "EUR_USD"], "BRENT_CRUDE_USD"))
        self.assertGreater(count, 200)


class Refusals(RunningCase):
    def test_each_status_is_an_error_of_its_own_with_code_and_request_id(self) -> None:
        with self.assertRaises(InvalidRequest) as refusal:
            self.client.get_latest_prices(by_code="NOPE_USD")
        self.assertEqual((refusal.exception.status, refusal.exception.code), (400, "invalid_code"))
        self.assertIn("NOPE_USD", str(refusal.exception))
        self.assertTrue(refusal.exception.request_id)
        with self.assertRaises(Unauthorized):
            self.another("0" * 64).get_account()
        with self.assertRaises(NotFound):
            self.client.get_alert("00000000-0000-4000-8000-00000000ffff")
        with self.assertRaises(InvalidRequest) as invalid:
            self.client.create_alert({"name": "", "commodity_code": "WTI_USD"})
        self.assertEqual(invalid.exception.status, 422)
        self.assertEqual(self.naps.lengths, [])

    def test_a_rate_limit_is_waited_for_as_long_as_the_service_says(self) -> None:
        self.fault("/v1/prices/latest", "RATE_LIMIT_EXCEEDED", count=2)
        self.assertEqual(len(self.client.latest("WTI_USD")), 1)
        self.assertEqual(self.naps.lengths, [12.0, 12.0])

    def test_a_wait_longer_than_allowed_is_an_error_at_once(self) -> None:
        client = self.another(API_KEY, longest_wait_s=10)
        self.fault("/v1/prices/latest", "RATE_LIMIT_EXCEEDED")
        with self.assertRaises(RateLimited) as refusal:
            client.latest("WTI_USD")
        self.assertEqual(refusal.exception.retry_after, 12)
        self.assertEqual(self.naps.lengths, [])

    def test_a_used_up_quota_is_not_tried_again(self) -> None:
        answer = self.control("POST", "/_dev/accounts", {"plan": "free"})
        client = self.another(answer["api_key"])
        for _ in range(50):
            client.latest("WTI_USD")
        with self.assertRaises(QuotaExceeded) as refusal:
            client.latest("WTI_USD")
        self.assertEqual((refusal.exception.status, refusal.exception.code), (402, "PAYMENT_REQUIRED"))
        self.assertEqual(self.naps.lengths, [])

    def test_a_read_is_tried_so_often_and_no_more(self) -> None:
        self.fault("/v1/prices/latest", "INTERNAL_ERROR", count=9)
        with self.assertRaises(Unavailable):
            self.client.latest("WTI_USD")
        self.assertEqual(len(self.naps.lengths), 3)
        self.assertEqual(self.control("GET", "/_dev/faults")["faults"][0]["count"], 5)

    def test_what_changes_something_is_tried_again_only_under_an_idempotency_key(self) -> None:
        self.fault("/v1/alerts", "OVERLOADED", count=1)
        alert = self.client.create_alert(
            {
                "name": "from a retry",
                "commodity_code": "WTI_USD",
                "condition_operator": "greater_than",
                "condition_value": 500,
            }
        )
        self.assertEqual(len(self.naps.lengths), 1)
        same = [item for item in self.client.list_alerts() if item["name"] == "from a retry"]
        self.assertEqual([item["id"] for item in same], [alert["id"]])
        self.fault("/v1/alerts/{id}", "OVERLOADED", count=1)
        with self.assertRaises(Unavailable):
            self.client.update_alert(alert["id"], {"enabled": False})
        self.assertEqual(len(self.naps.lengths), 1)
        self.client.delete_alert(alert["id"])


class BrokenConnections(unittest.TestCase):
    """A service that closes the first connections before it answers."""

    def serve(self, breaks: int) -> tuple[str, list[bytes]]:
        requests: list[bytes] = []
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        content = json.dumps({"status": "ok"}).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(content)

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    requests.append(connection.recv(65536))
                    if len(requests) > breaks:
                        connection.sendall(head + content)

        threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}", requests

    def test_a_read_is_sent_again_after_a_broken_connection(self) -> None:
        naps = Naps()
        url, requests = self.serve(breaks=2)
        with Client(url, "key", sleep=naps) as client:
            self.assertEqual(client.get_health(), {"status": "ok"})
        self.assertEqual((len(requests), len(naps.lengths)), (3, 2))
        self.assertLess(naps.lengths[0], naps.lengths[1])

    def test_what_changes_something_is_sent_once(self) -> None:
        naps = Naps()
        url, requests = self.serve(breaks=9)
        with self.assertRaises(ConnectionFailed):
            Client(url, "key", sleep=naps).update_alert("id", {"enabled": False})
        self.assertEqual((len(requests), naps.lengths), (1, []))

    def test_where_nobody_listens_the_error_names_the_request(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with self.assertRaisesRegex(ConnectionFailed, "GET /v1/health"):
            Client(f"http://127.0.0.1:{port}", "key", retries=0).get_health()


class Streams(RunningCase):
    def test_a_stream_that_is_cut_off_goes_on_after_the_last_event_and_repeats_none(self) -> None:
        since = self.client.get_last_watch_event()
        body: Any = {"codes": ["WTI_USD", "EUR_USD"], "interval_seconds": 60}
        watch = self.client.create_watch(body)["data"]
        self.addCleanup(self.client.delete_watch, watch["id"])
        self.advance("PT5M")
        proxy = CuttingProxy(cuts=3)
        self.addCleanup(proxy.close)
        expected = self.client.list_watch_events(since=since)["data"]["events"]
        self.assertGreaterEqual(len(expected), 8)
        streaming = Client(proxy.url, API_KEY, sleep=self.naps)
        stream = streaming.stream(since=since, reconnects=3)
        events = list(islice(stream, len(expected)))
        stream.close()
        self.assertEqual([event.data for event in events], expected)
        self.assertEqual([event.id for event in events], [str(item["seq"]) for item in expected])
        self.assertEqual(proxy.connections, 4)
        self.assertEqual(self.naps.lengths, [3.0, 3.0, 3.0])

    def test_a_stream_that_is_not_allowed_says_so(self) -> None:
        with self.assertRaises(Unauthorized):
            next(self.another("0" * 64).stream(since=0))


class Webhooks(RunningCase):
    def setUp(self) -> None:
        super().setUp()
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)

    def delivered(self, **options: Any) -> tuple[str, bytes, dict[str, str]]:
        body: Any = {"url": self.receiver.url, "events": ["price.updated"], **options}
        webhook = self.client.create_webhook(body)["data"]
        self.addCleanup(self.client.delete_webhook, webhook["id"])
        self.assertTrue(self.client.test_webhook(webhook["id"])["data"]["success"])
        content, headers = self.receiver.deliveries[-1]
        return str(webhook["secret"]), content, headers

    def now(self, headers: dict[str, str]) -> float:
        return float({name.lower(): value for name, value in headers.items()}["webhook-timestamp"])

    def test_a_delivery_of_the_service_is_verified_by_either_of_its_signatures(self) -> None:
        for scheme in ("timestamped", "body"):
            secret, content, headers = self.delivered(signature_scheme=scheme)
            now = self.now(headers)
            own = {name: value for name, value in headers.items() if not name.lower().startswith("webhook-")}
            standard = {name: value for name, value in headers.items() if not name.lower().startswith("x-service-")}
            for sent in (headers, own, standard):
                event = verify_webhook(secret, content, sent, now=now)
                self.assertEqual((event["type"], event["event"]), ("webhook.test", "webhook.test"))

    def test_a_secret_of_ones_own_verifies_too(self) -> None:
        secret, content, headers = self.delivered(secret="correct horse battery staple")
        standard = {name: value for name, value in headers.items() if not name.lower().startswith("x-service-")}
        for sent in (headers, standard):
            self.assertTrue(verify_webhook("correct horse battery staple", content, sent, now=self.now(headers))["id"])

    def test_another_secret_body_or_time_does_not_verify(self) -> None:
        secret, content, headers = self.delivered()
        now = self.now(headers)
        bare = {name: value for name, value in headers.items() if "timestamp" not in name.lower()}
        for label, arguments in {
            "secret": ("whsec_" + "0" * 48, content, headers, now),
            "body": (secret, content.replace(b"webhook", b"webhoax", 1), headers, now),
            "late": (secret, content, headers, now + 301),
            "early": (secret, content, headers, now - 301),
            "no time": (secret, content, bare, now),
        }.items():
            with self.subTest(label), self.assertRaises(InvalidWebhook):
                verify_webhook(*arguments[:3], now=arguments[3])


class Operators(RunningCase):
    def test_the_operators_token_opens_the_operators_operations(self) -> None:
        emails = {account["email"] for account in self.operator.iter_accounts()}
        self.assertIn("eval@example.com", emails)
        with self.assertRaises(Unauthorized):
            self.client.list_accounts()


if __name__ == "__main__":
    unittest.main()
