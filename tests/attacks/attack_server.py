"""Requests to `paceline explore` that a browser's page would not make."""

import http.client
import os
import re
import socket
import subprocess
import time

PAGE = b"<!doctype html><title>page</title>"


class _Serving:
    """The program, serving a folder of its own on a free port."""

    def __init__(self, arena, *more):
        arena.write("page/index.html", PAGE)
        arena.write("page/large.bin", os.urandom(1 << 20))
        arena.write("page/.hidden", "secret")
        arena.write("page/.git/config", "secret")
        arena.write("secret.txt", "secret")
        (arena.path / "page/link.txt").symlink_to("../secret.txt")
        (arena.path / "page/above").symlink_to("..")
        (arena.path / "page/inside.html").symlink_to("index.html")
        self.process = arena.start("explore", "--no-browser", "--folder", "page", *more)

    def __enter__(self):
        line = self.process.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, (line, self.process.stderr.read())
        self.port = int(found[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=20)

    def get(self, path, method="GET", **headers):
        """Returns the status, the headers and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        made = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return made

    def peak_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])


def what_is_served(arena):
    """explore serves the folder's files, with headers that keep others out, and nothing beside them"""
    with _Serving(arena) as server:
        for path in ("/", "/index.html", "/inside.html"):
            status, headers, body = server.get(path)
            assert status == 200 and body == PAGE, path
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
            assert "default-src 'none'" in headers["Content-Security-Policy"]
        for path in ("/.hidden", "/.git/config", "/link.txt", "/above/secret.txt", "/../secret.txt", "/%2e%2e/secret.txt",
                     "/..%2fsecret.txt", "//etc/passwd", "/etc/passwd", "/%00", "/index.html%00.txt", "/./.hidden",
                     "/above/page/.hidden"):
            status, _, body = server.get(path)
            assert status in (400, 404) and b"secret" not in body and b"root:" not in body, (path, status, body)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            assert server.get("/", method)[0] in (400, 405, 501), method
        assert server.get("/", "HEAD")[0] == 200


def other_names(arena):
    """explore answers to its own name alone, so that no other site's name leads to it"""
    with _Serving(arena) as server:
        for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
            assert server.get("/", Host=host)[0] == 200, host
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", "",
                     f"127.0.0.1:{server.port}.evil.example"):
            status, _, body = server.get("/", Host=host)
            assert status in (400, 403) and PAGE not in body, (host, status)


def many_ranges(arena):
    """a request of many ranges is refused, and one range is served"""
    with _Serving(arena) as server:
        status, _, body = server.get("/large.bin", Range="bytes=0-99")
        assert status == 206 and len(body) == 100
        status, _, body = server.get("/large.bin", Range="bytes=" + ",".join(["0-"] * 2000))
        assert status in (400, 416) and len(body) < 1000, (status, len(body))
        assert server.peak_kib() < 100_000, server.peak_kib()


def one_port_one_program(arena):
    """a port that a program has is refused to a second one"""
    with _Serving(arena) as server:
        ended = arena.run("explore", "--no-browser", "--folder", "page", "--port", server.port)
        assert ended.code == 2 and b"is in use" in ended.err, ended


def slow_clients(arena):
    """clients that send and read slowly, or not at all, keep nobody out"""
    with _Serving(arena) as server:
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        for number, client in enumerate(slow):
            client.sendall([b"", b"GET / HT", b"GET /large.bin HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % server.port,
                            b"GET / HTTP/1.1\r\nX: "][number % 4])
        begin = time.monotonic()
        for _ in range(5):
            assert server.get("/")[0] == 200
        assert time.monotonic() - begin < 3, time.monotonic() - begin
        for client in slow:
            client.close()


def noise(arena):
    """bytes that are no request end a connection and nothing else"""
    with _Serving(arena) as server:
        for sent in (b"\x00" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100_000, b"\r\n" * 1000,
                     b"GET /" + b"a" * 50_000 + b" HTTP/1.1\r\n\r\n", os.urandom(5000),
                     b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nx",
                     b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000):
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                try:
                    client.sendall(sent)
                    client.shutdown(socket.SHUT_WR)
                    client.settimeout(10)
                    while client.recv(65536):
                        pass
                except OSError:
                    pass
        assert server.get("/")[0] == 200
        assert server.process.poll() is None
