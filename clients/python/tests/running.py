"""The running evaluation copy that the tests ask, and what they do to it."""

from __future__ import annotations

import os
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from wellhead import Client

URL = os.environ.get("WELLHEAD_URL", "")
API_KEY = os.environ.get("WELLHEAD_API_KEY", "")
ADMIN_TOKEN = os.environ.get("WELLHEAD_ADMIN_TOKEN", "")


class Naps:
    """Stands for sleeping: writes down how long it would have been."""

    def __init__(self) -> None:
        self.lengths: list[float] = []

    def __call__(self, length_s: float) -> None:
        self.lengths.append(length_s)


@unittest.skipUnless(URL, "WELLHEAD_URL names no running copy")
class RunningCase(unittest.TestCase):
    """Tests against the copy; faults end with each of them."""

    def setUp(self) -> None:
        self.naps = Naps()
        self.client = Client(URL, API_KEY, sleep=self.naps)
        self.operator = Client(URL, ADMIN_TOKEN)
        self.addCleanup(self.client.close)
        self.addCleanup(self.operator.close)
        self.addCleanup(self.control, "DELETE", "/_dev/faults")

    def another(self, api_key: str, **options: Any) -> Client:
        """A client with another key or other options."""
        client = Client(URL, api_key, sleep=self.naps, **options)
        self.addCleanup(client.close)
        return client

    def control(self, method: str, path: str, body: Any = None) -> Any:
        return self.operator.transport.request(method, path, body=body).value()

    def fault(self, path: str, code: str, count: int = 1) -> None:
        self.control("POST", "/_dev/faults", {"path": path, "code": code, "count": count})

    def advance(self, duration: str) -> str:
        return str(self.control("POST", "/_dev/clock", {"advance": duration})["now"])


class Receiver:
    """Takes webhooks on a free port of this machine."""

    def __init__(self) -> None:
        deliveries: list[tuple[bytes, dict[str, str]]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                deliveries.append((body, dict(self.headers.items())))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.deliveries = deliveries
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class CuttingProxy:
    """Passes connections on to the copy, and cuts each one off after the first event that came through it."""

    def __init__(self, cuts: int) -> None:
        self.connections = 0
        self._cuts = cuts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._pass, args=(near, self.connections <= self._cuts), daemon=True).start()

    def _pass(self, near: socket.socket, is_cut: bool) -> None:
        host, port = URL.removeprefix("http://").split(":")
        far = socket.create_connection((host, int(port)))
        threading.Thread(target=self._copy, args=(near, far), daemon=True).start()
        seen = b""
        with near, far:
            while piece := far.recv(4096):
                seen += piece
                end = seen.find(b"\n\n", seen.find(b"data:"))
                if is_cut and b"data:" in seen and end != -1:
                    near.sendall(seen[: end + 2])
                    near.shutdown(socket.SHUT_RDWR)
                    return
                if not is_cut or b"data:" not in seen:
                    near.sendall(piece)
                    seen = b"" if not is_cut else seen

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        try:
            while piece := source.recv(4096):
                target.sendall(piece)
        except OSError:
            pass
