"""Runs an evaluation copy of the service for tests: time, accounts, data, faults and what is sent, all under control."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from .client import Client
from .errors import WellheadError
from .transport import RetryPolicy, Transport, text_of
from .version import VERSION

_T = TypeVar("_T")
_POLL_S = 0.02

Plan = Literal["free", "developer", "starter", "professional", "scale", "enterprise"]
ScenarioName = Literal["negative-wti", "crash", "outage", "late-release", "revision", "quota-edge", "dst"]


class NotCaptured(WellheadError):
    """What a test waited for did not come."""


@dataclass(frozen=True)
class Account:
    id: str
    email: str
    plan: str
    api_key: str


@dataclass(frozen=True)
class Delivery:
    """A webhook as it arrived; `body` are the bytes that are signed."""

    type: str
    id: str
    data: dict[str, Any]
    headers: dict[str, str]
    body: bytes


class Captured(Generic[_T]):
    """Things that come by themselves, in the order in which they came."""

    def __init__(self, name: str, read: Callable[[], Sequence[_T]]) -> None:
        self._name = name
        self._read = read
        self._taken: list[tuple[int, _T]] = []

    def all(self) -> list[_T]:
        """What has come by now."""
        return list(self._read())

    def next(self, fits: Callable[[_T], bool] = lambda _: True, *, timeout_s: float = 5.0) -> _T:
        """The first that fits and has not been taken by an earlier call; waits for it where it has not come yet."""

        def pick(items: list[_T]) -> tuple[int, _T] | None:
            return next((entry for entry in enumerate(items) if entry not in self._taken and fits(entry[1])), None)

        entry = self._wait(pick, timeout_s)
        self._taken.append(entry)
        return entry[1]

    def count(self, at_least: int, *, timeout_s: float = 5.0) -> list[_T]:
        """Waits until so many have come, and answers all of them."""
        return self._wait(lambda items: items if len(items) >= at_least else None, timeout_s)

    def _wait(self, pick: Callable[[list[_T]], Any], timeout_s: float) -> Any:
        ends_at = time.monotonic() + timeout_s
        while True:
            items = self.all()
            result = pick(items)
            if result is not None:
                return result
            if time.monotonic() >= ends_at:
                raise NotCaptured(f"no such {self._name} within {timeout_s:g} s; there are {len(items)}: {items!r}")
            time.sleep(_POLL_S)


class WebhookReceiver(Captured[Delivery]):
    """Takes webhooks on a free port of this machine; `url` is where to let them be sent."""

    def __init__(self) -> None:
        deliveries: list[Delivery] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                deliveries.append(_delivery(body, headers))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__("webhook", lambda: deliveries)
        #: The status that the next deliveries are answered with.
        self.status = 200
        self._deliveries = deliveries
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def clear(self) -> None:
        self._deliveries.clear()
        self._taken.clear()
        self.status = 200

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _delivery(body: bytes, headers: dict[str, str]) -> Delivery:
    try:
        envelope = json.loads(body)
    except ValueError:
        # What is no JSON is kept as it came, for the test to look at.
        envelope = {}
    return Delivery(envelope.get("type", ""), envelope.get("id", ""), envelope.get("data", {}), headers, body)


class Copy:
    """A running evaluation copy. Made by `start_wellhead`."""

    def __init__(self, process: subprocess.Popen[bytes], directory: Path, ready: Mapping[str, str]) -> None:
        self._process = process
        self._directory = directory
        self._states = 0
        self.url = ready["url"]
        self.api_key = ready["api_key"]
        self.admin_token = ready["admin_token"]
        self._controls = Transport(
            self.url,
            self.admin_token,
            timeout_s=120.0,
            policy=RetryPolicy(retries=0),
            user_agent=f"wellhead-testkit/{VERSION}",
        )
        #: A client with the key of the copy.
        self.client = Client(self.url, self.api_key)
        #: Webhooks that arrived at `webhooks.url`.
        self.webhooks = WebhookReceiver()
        #: E-mail and text messages that would have gone out.
        self.mail: Captured[dict[str, Any]] = Captured("message", self._messages)

    def now(self) -> datetime:
        """The moment of the copy's clock."""
        return _instant(self._control("GET", "/_dev/clock"))

    def advance(self, duration: str) -> datetime:
        """Moves the clock forward, by `PT61S` or `P1D`; every job that falls due on the way has run."""
        return self._move_clock({"advance": duration})

    def move_to(self, moment: datetime | str) -> datetime:
        """Moves the clock forward to a moment."""
        return self._move_clock({"now": text_of(moment)})

    def account(
        self,
        plan: Plan = "free",
        *,
        email: str | None = None,
        trial: bool = False,
        add_ons: Sequence[str] = (),
        unconfirmed: bool = False,
    ) -> Account:
        """Makes an account with a key."""
        body = {"plan": plan, "trial": trial, "add_ons": list(add_ons), "unconfirmed": unconfirmed}
        answer = self._control("POST", "/_dev/accounts", {**body, **({"email": email} if email else {})})
        account = answer["account"]
        return Account(account["id"], account["email"], account["plan"], answer["api_key"])

    def fault(
        self,
        path: str = "*",
        code: str | None = None,
        *,
        method: str | None = None,
        delay_ms: int = 0,
        count: int | None = None,
        probability: float = 1.0,
    ) -> None:
        """Lets a route, as the documentation writes it, answer a refusal by its code, or slowly."""
        body = {"path": path, "code": code, "method": method, "delay_ms": delay_ms, "count": count}
        sent = {name: value for name, value in body.items() if value is not None}
        self._control("POST", "/_dev/faults", {**sent, "probability": probability})

    def clear_faults(self) -> None:
        self._control("DELETE", "/_dev/faults")

    def record(self, prices: Mapping[str, float], *, observed_at: datetime | str | None = None) -> None:
        """Records a price of each code as the operator does, by default at the moment of the clock; all or none."""
        moment = text_of(observed_at or self.now())
        rows = [{"code": code, "price": price, "observed_at": moment} for code, price in prices.items()]
        pushed = self._control("POST", "/admin/v1/observations", {"observations": rows})["data"]
        if pushed["held"] > 0:
            # A test may record what the anomaly checks of a real instance would hold for review.
            held = self._control("GET", "/admin/v1/review?per_page=100")["data"]["values"]
            ids = [value["id"] for value in held if value["batch"] == pushed["batch"]]
            self._control("POST", "/admin/v1/review/release", {"ids": ids, "replace": True, "reason": "recorded by a test"})

    def scenario(self, name: ScenarioName, **options: Any) -> dict[str, Any]:
        """Brings a situation about; answers `now`, `done`, `after` and `details`, of `quota-edge` with an `api_key`.

        Options: `code` of `late-release` and `revision`, `remaining` of `quota-edge`, `zone` of `dst`.
        """
        self._messages()
        played: dict[str, Any] = self._control("POST", "/_dev/scenario", {"name": name, **options})
        return played

    def pause_feed(self, paused: bool = True) -> None:
        """Stops the prices of the demo world, or lets them catch up, so that data ages as the clock moves."""
        self._control("POST", "/_dev/feed", {"paused": paused})

    def snapshot(self, name: str = "default") -> None:
        """Keeps the state; `restore` with the same name returns to it."""
        self._control("POST", "/_dev/snapshot", {"name": name})

    def restore(self, name: str = "default") -> None:
        self._control("POST", "/_dev/restore", {"name": name})

    def reset(self) -> None:
        """Back to the state of the start."""
        self._control("POST", "/_dev/reset")

    @contextmanager
    def kept(self) -> Iterator[Copy]:
        """Returns to the state of now at the end of the block."""
        self._states += 1
        name = f"kept-{self._states}"
        self.snapshot(name)
        try:
            yield self
        finally:
            self.restore(name)
            self._states -= 1
            self.clear_faults()
            self.webhooks.clear()

    def stop(self) -> None:
        """Ends the copy; it has ended and its files are gone when this returns."""
        self.client.close()
        self._controls.close()
        self.webhooks.close()
        _end(self._process, self._directory)

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _move_clock(self, body: Mapping[str, str]) -> datetime:
        # The inbox answers when what is on its way has ended. A delivery that ended after the clock was moved would be
        # tried again later than the test expects.
        self._messages()
        return _instant(self._control("POST", "/_dev/clock", body))

    def _control(self, method: str, path: str, body: Any = None) -> Any:
        return self._controls.request(method, path, body=body).value()

    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self._control("GET", "/_dev/inbox")["messages"]
        return messages


def _instant(answer: Mapping[str, str]) -> datetime:
    return datetime.fromisoformat(answer["now"].replace("Z", "+00:00"))


def _end(process: subprocess.Popen[bytes], directory: Path) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait()
    if process.stderr:
        process.stderr.close()
    shutil.rmtree(directory, ignore_errors=True)


def start_wellhead(
    *,
    clock: datetime | str | None = None,
    seed: int | None = None,
    world: Literal["whole", "small"] | None = None,
    plan: Plan | None = None,
    binary: str | Sequence[str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Copy:
    """Starts an evaluation copy on a free port of this machine; `with start_wellhead() as copy:` stops it.

    `clock`: where it stands until it is moved; absent: real time. `seed`: the same one gives the same invented prices.
    `world`: `small` has some codes of each kind with a year of history, which is there sooner.
    `plan`: that of `api_key`; absent: the instance's own account, which has every feature. `binary`: the program, with
    arguments before its command where there are any; default WELLHEAD_BINARY, then `wellhead` on the path. `settings`: such as `{"WELLHEAD_LIMITS_PER_MINUTE": "100000"}`.
    """
    directory = Path(tempfile.mkdtemp(prefix="wellhead-"))
    ready_path = directory / "ready.json"
    program = binary or os.environ.get("WELLHEAD_BINARY") or "wellhead"
    command = [program] if isinstance(program, str) else list(program)
    command += ["dev", "--data", str(directory / "data"), "--port", "0", "--ready-file", str(ready_path)]
    if clock is not None:
        command += ["--clock", text_of(clock)]
    if seed is not None:
        command += ["--seed", str(seed)]
    if world is not None:
        command += ["--world", world]
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with open(directory / "errors.txt", "wb") as errors:
        try:
            process = subprocess.Popen(
                command, env={**kept, **(settings or {})}, stdout=subprocess.DEVNULL, stderr=errors
            )
        except OSError as failure:
            shutil.rmtree(directory, ignore_errors=True)
            raise WellheadError(f"the copy could not be started: {failure}") from failure
    try:
        copy = Copy(process, directory, _ready(process, ready_path))
    except BaseException:
        _end(process, directory)
        raise
    if plan is not None:
        copy.api_key = copy.account(plan).api_key
        copy.client = Client(copy.url, copy.api_key)
    return copy


def _ready(process: subprocess.Popen[bytes], path: Path) -> Mapping[str, str]:
    """What the ready file says, which is there when the copy listens."""
    while True:
        status = process.poll()
        if status is not None:
            reason = (path.parent / "errors.txt").read_text("utf-8", "replace")[-4000:]
            raise WellheadError(f"the copy ended with {status}: {reason}")
        if path.exists():
            text = path.read_text("utf-8")
            if text.rstrip().endswith("}"):
                ready: Mapping[str, str] = json.loads(text)
                return ready
        time.sleep(0.005)
