"""`explore`: the page of a result, served to the browser on this computer only."""

from __future__ import annotations

import hmac
import re
import secrets
import sys
import threading
import webbrowser
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.files import temporary_folder
from vicinal._core.scalar_checks import check_count
from vicinal.report._html.colours import page_bytes
from vicinal.report._html.page import page_policy, page_script, render

if TYPE_CHECKING:
    from vicinal.report.result import Perception

HOST = "127.0.0.1"
# Values of columns that the page loads; more than in a report, because they are not part of the page.
MAX_VALUES = 16_000_000
# Seconds in which a reader sends a request or takes an answer, and the number of readers at a time.
TIMEOUT, MAX_CONNECTIONS = 30.0, 32
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Explorer:
    """A server of one page, which only this computer can reach and only with the token in its address.

    It runs in a thread until `close`, or until the end of a ``with`` block. Only the script of vicinal's own
    pages runs.

    Parameters
    ----------
    page : str
        The page.
    arrays : dict of str to bytes
        What the page loads, by name.
    port : int
        Port; 0 for any free one.

    Examples
    --------
    >>> from vicinal.report import Explorer
    >>> with Explorer("<p>Hello</p>", {}) as explorer:
    ...     explorer.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, page: str, arrays: dict[str, bytes], *, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self._until_closed = ExitStack()
        self._files = {"": (page.encode(), "text/html; charset=utf-8")} | {
            f"array/{name}": (content, "application/octet-stream")
            for name, content in arrays.items()
        }
        self._policy = page_policy(page_script(), "'self'")
        self._server = _Server((HOST, port), self._handler())
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the page, with its token."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def open_browser(self) -> None:
        """Open the page in the browser.

        Other users of this computer can list the arguments of its processes, so that the browser is given the
        name of a private file that leads to the page.
        """
        # The folder is for this user only.
        redirect = self._until_closed.enter_context(temporary_folder()) / "explore.html"
        redirect.touch(mode=0o600)
        redirect.write_text(f'<meta http-equiv="refresh" content="0; url={self.url}">')
        webbrowser.open(redirect.as_uri())

    def wait(self) -> None:
        """Serve until the program is interrupted."""
        self._thread.join()

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()
        self._until_closed.close()

    def __enter__(self) -> Explorer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Explorer({self.url})"

    def _content(self, host: str | None, path: str) -> tuple[bytes, str] | None:
        """Content and type for a path; None without the token or from another host.

        A page elsewhere could reach this server under a name of its own that resolves to this computer; its
        requests carry that name as their host.
        """
        if host not in (f"{HOST}:{self.port}", f"localhost:{self.port}"):
            return None
        token, slash, name = path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        return self._files.get(name)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        explorer = self

        class Handler(BaseHTTPRequestHandler):
            server_version, sys_version = "vicinal", ""
            timeout = TIMEOUT

            def do_GET(self) -> None:
                found = explorer._content(self.headers.get("Host"), self.path)
                content, kind = found or (b"not found\n", "text/plain; charset=utf-8")
                self.send_response(200 if found else 404)
                for name, value in HEADERS.items():
                    self.send_header(name, value)
                self.send_header("Content-Security-Policy", explorer._policy)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: object) -> None:
                """Requests are not logged: their paths contain the token."""

        return Handler


class _Server(ThreadingHTTPServer):
    """A server that bounds its readers, and to which one who leaves is no error."""

    daemon_threads, request_queue_size = True, MAX_CONNECTIONS

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def explore(result: Perception, *, port: int = 0, open_browser: bool = True) -> Explorer:
    """Show the page of a result in the browser, with all rows and columns.

    Parameters
    ----------
    result : Perception
        What `vicinal.perceive` returned.
    port : int, default=0
        Port of the server; 0 for any free one.
    open_browser : bool, default=True
        Whether to open the page.

    Returns
    -------
    Explorer
        The server; `Explorer.close` ends it. Only this computer can reach it, and only with the token in
        ``url``.

    Examples
    --------
    >>> import vicinal
    >>> from vicinal.report import explore
    >>> X, _ = vicinal.datasets.make_two_moons(100, noise=0.05, random_state=0)
    >>> result = vicinal.perceive(X, n_clusters=2, sample=50)
    >>> with explore(result, open_browser=False) as explorer:
    ...     explorer.url.startswith("http://127.0.0.1:")
    True
    """
    check_count(port, "port", low=0, high=65535)
    arrays: dict[str, bytes] = {}

    def keep(values: np.ndarray, dtype: Any) -> str:
        name = str(len(arrays))
        arrays[name] = page_bytes(values, dtype)
        return f"array/{name}"

    page = render(result, pack=keep, max_values=MAX_VALUES, requests="'self'")
    explorer = Explorer(page, arrays, port=port)
    if open_browser:
        explorer.open_browser()
    return explorer


def is_report(text: str) -> bool:
    """Whether a page is a report that vicinal wrote, of any version."""
    return re.search(r'<meta name="generator" content="vicinal [^"]*">', text) is not None


def has_our_script(text: str) -> bool:
    """Whether the script of a page is that of this version: no other runs in what `Explorer` serves."""
    return page_script() in text
