"""`explore` answers only requests from this computer that know its token, and serves the whole page."""

import base64
import hashlib
import http.client
import json
import os
import re
import socket
import stat
import struct
import threading
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from vicinal.report import Explorer, explore
from vicinal.report._html.data import payload


@pytest.fixture(scope="module")
def explorer():
    with Explorer("<!doctype html><title>Page</title>", {"0": b"\x01\x02\x03"}) as server:
        yield server


def get(explorer, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=300)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def test_the_page_and_its_arrays_are_at_the_address_with_the_token(explorer):
    path = f"/{explorer.token}/"
    assert explorer.url == f"http://127.0.0.1:{explorer.port}{path}"
    response, content = get(explorer, path)
    assert (response.status, content) == (200, b"<!doctype html><title>Page</title>")
    response, content = get(explorer, f"{path}array/0")
    assert (response.status, content) == (200, b"\x01\x02\x03")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "//",
        "/array/0",
        "/wrong/",
        "/wrong/array/0",
        "/{token}x/",
        "/{token}/array/1",
        "/{token}/../../etc/passwd",
        "/{token}/array/../array/0",
        "/%2e%2e/{token}/",
        "/?token={token}",
        "http://127.0.0.1/{token}/",
    ],
)
def test_anything_else_is_not_found(explorer, path):
    path = path.format(token=explorer.token)
    response, content = get(explorer, path)
    assert (response.status, content) == (404, b"not found\n")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}"],
)
def test_another_host_name_is_refused_even_with_the_token(explorer, host):
    response, _ = get(explorer, f"/{explorer.token}/", Host=host.format(port=explorer.port))
    assert response.status == 404


def test_localhost_is_accepted(explorer):
    response, _ = get(explorer, f"/{explorer.token}/", Host=f"localhost:{explorer.port}")
    assert response.status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_nothing_but_reading_is_possible(explorer, method):
    response, _ = get(explorer, f"/{explorer.token}/", method)
    assert response.status == 501


def test_a_request_without_a_host_is_refused(explorer):
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=300) as connection:
        connection.sendall(f"GET /{explorer.token}/ HTTP/1.0\r\n\r\n".encode())
        assert b" 404 " in connection.recv(1000).partition(b"\r\n")[0]


def test_a_path_of_any_bytes_is_not_found(explorer):
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=300) as connection:
        host = f"Host: 127.0.0.1:{explorer.port}".encode()
        connection.sendall(b"GET /\xff\xc3\xbc/ HTTP/1.0\r\n" + host + b"\r\n\r\n")
        assert b" 404 " in connection.recv(1000).partition(b"\r\n")[0]


def test_only_the_loopback_interface_listens(explorer):
    assert explorer._server.server_address[0] == "127.0.0.1"


def test_other_sites_can_neither_read_nor_frame_the_page(explorer):
    response, _ = get(explorer, f"/{explorer.token}/")
    assert response.getheader("Access-Control-Allow-Origin") is None
    assert response.getheader("X-Frame-Options") == "DENY"
    assert response.getheader("Cross-Origin-Resource-Policy") == "same-origin"
    assert response.getheader("Referrer-Policy") == "no-referrer"


def test_every_server_has_a_token_of_its_own(explorer):
    with Explorer("", {}) as other:
        assert other.token != explorer.token
        assert len(other.token) >= 32
        assert get(other, f"/{explorer.token}/")[0].status == 404


def test_requests_are_not_logged_because_they_contain_the_token(explorer, capfd):
    get(explorer, f"/{explorer.token}/")
    assert explorer.token not in "".join(capfd.readouterr())


def test_the_arrays_are_those_of_the_report(perception):
    result = perception("iris")
    embedded = payload(result)
    with explore(result, open_browser=False) as server:
        _, page = get(server, f"/{server.token}/")
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.decode(), re.DOTALL)[1])
        for entry, expected in zip(data["maps"], embedded["maps"], strict=True):
            _, content = get(server, f"/{server.token}/{entry['x']}")
            assert content == base64.b64decode(expected["x"])
        _, codes = get(
            server, f"/{server.token}/{data['layers']['codes'][data['layers']['reported']]}"
        )
    np.testing.assert_array_equal(np.frombuffer(codes, np.uint8), result.labels + 1)
    assert "connect-src &#x27;self&#x27;" in page.decode()


def test_the_browser_is_given_a_private_file_without_the_token_in_its_name(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with Explorer("", {}) as server:
        server.open_browser()
        (address,) = opened
        file = Path(urllib.request.url2pathname(urllib.parse.urlsplit(address).path))
        assert server.token not in address
        assert server.url in file.read_text()
        if os.name == "posix":
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not file.exists()


def test_a_policy_in_the_header_allows_only_the_script_of_our_pages(explorer, perception):
    response, _ = get(explorer, f"/{explorer.token}/")
    policy = response.getheader("Content-Security-Policy")
    with explore(perception("iris"), open_browser=False) as server:
        page = get(server, f"/{server.token}/")[1].decode()
    script = max(re.findall(r"<script>(.*?)</script>", page, re.DOTALL), key=len)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy


def test_readers_are_few_and_have_a_time_limit(monkeypatch):
    monkeypatch.setattr("vicinal.report._explorer.TIMEOUT", 1.0)
    with Explorer("page", {}) as server:
        before = threading.active_count()
        idle = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(60)]
        assert threading.active_count() <= before + 32
        # Those that send nothing are closed: at once beyond the limit, the others after the time.
        assert all(connection.recv(1) == b"" for connection in idle)
        response, _ = get(server, f"/{server.token}/")
        assert response.status == 200
        for connection in idle:
            connection.close()


def test_a_reader_who_leaves_causes_no_output(capfd):
    with Explorer("", {"0": bytes(50_000_000)}) as server:
        for _ in range(4):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
                request = (
                    f"GET /{server.token}/array/0 HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
                )
                connection.sendall(request.encode())
                assert connection.recv(100)
                reset = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        assert get(server, f"/{server.token}/")[0].status == 200
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.parametrize("port", [-1, 65536, "8000", 1.5])
def test_a_port_is_a_number_up_to_65535(perception, port):
    with pytest.raises((ValueError, TypeError), match="port="):
        explore(perception("iris"), port=port, open_browser=False)
