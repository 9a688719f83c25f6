"""HTTP over a plain socket, for requests that no client library would send."""

import http.client
import socket
from concurrent.futures import ThreadPoolExecutor

import httpx

BODY = b'{"studentUniqueId": "http", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}'


def exchange(server, head, body, ends=False):
    """The status and the body of the answer to these bytes; `ends` shuts down the sending side after them."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        text = f"POST /data/ed-fi/students HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n"
        connection.sendall(f"{text}Connection: close\r\n{head}\r\n\r\n".encode() + body)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    first, _, rest = answer.partition(b"\r\n")
    return (int(first.split()[1]) if first else None), rest.partition(b"\r\n\r\n")[2]


def chunked(*chunks):
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def whole_answer(connection: socket.socket) -> http.client.HTTPResponse:
    """The next answer, which may arrive in parts, without reading beyond it."""
    answer = http.client.HTTPResponse(connection)
    answer.fp.close()
    answer.fp = connection.makefile("rb", buffering=0)
    answer.begin()
    answer.read()
    return answer


def all_threads_answer(server, timeout):
    def send(_):
        return httpx.get(f"http://127.0.0.1:{server.port}/health/live", timeout=timeout).status_code

    with ThreadPoolExecutor(8) as pool:
        return set(pool.map(send, range(8))) == {200}
