"""Log lines of refused requests, including those refused before the application is called."""

import re
import socket
from datetime import datetime

import httpx
import pytest

REFUSED_BY_THE_SERVER = {
    "expectation": (b"GET / HTTP/1.1\r\nHost: localhost\r\nExpect: Zebulon\r\n\r\n", 417),
    "coding": (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Zebulon, chunked\r\n\r\n", 501),
    "late body": (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\nZebulon", 408),
}


def lines(server, correlation_id):
    return [line for line in server.log.read_text().splitlines() if correlation_id in line]


def test_a_refused_request_is_logged_under_the_correlation_id_of_its_answer(real_server):
    url = f"http://127.0.0.1:{real_server.port}/data/ed-fi/students"
    answer = httpx.post(url, json={"lastSurname": "Zebulon"}, headers={"Authorization": f"Bearer {real_server.token}"})

    correlation_id, key = answer.headers["correlationid"], real_server.credentials["client_id"]
    [line] = lines(real_server, correlation_id)
    moment, _, logged = line.partition(" INFO ")
    logged_facts, _, milliseconds = logged.rpartition(" milliseconds=")
    assert answer.json()["correlationId"] == correlation_id
    assert logged_facts == (
        f"meadowlark.requests [{correlation_id}] status=400 problem=urn:ed-fi:api:bad-request:data-validation-failed "
        f"method=POST resource=/ed-fi/students client={key}"
    )
    assert float(milliseconds) > 0
    assert datetime.fromisoformat(moment.replace(",", "."))


@pytest.mark.parametrize(("sent", "status"), REFUSED_BY_THE_SERVER.values(), ids=REFUSED_BY_THE_SERVER)
def test_refusals_before_the_application_are_logged_in_one_line_without_their_bytes(real_server, sent, status):
    with socket.create_connection(("127.0.0.1", real_server.port), timeout=10) as connection:
        connection.sendall(sent)
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    correlation_id = re.search(r"(?m)^correlationid: (\w{32})\r$", answer)[1]
    [line] = lines(real_server, correlation_id)
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert f'"correlationId":"{correlation_id}"' in answer
    assert f"status={status} problem=urn:ed-fi:api:" in line
    assert "zebulon" not in real_server.log.read_text().lower()
