"""Sending answers that are too large to be handed to the engine at once.

The engine keeps what it is given until the client has taken it, whatever its size. From a file it reads only as fast as
the client does. So it is given the reading end of a pipe, and a thread that handles no requests writes to the other
end: a client that reads slowly holds neither memory nor a thread with a database connection.
"""

import os
import select
from collections.abc import Iterable

from meadowlark.serving.rsgi import Fields, HTTPProtocol

# In bytes; more than a pipe holds. Answers up to this size are handed over at once.
LARGE = 2**20


def send(protocol: HTTPProtocol, status: int, headers: Fields, blocks: Iterable[bytes], seconds: float) -> int:
    """The number of bytes, when the engine has taken nearly all of them. The blocks are more than LARGE together.

    Raises BrokenPipeError when the client has gone, and TimeoutError when it has taken nothing for so many seconds. The
    connection is then closed before the end of the answer, which its Content-Length shows.
    """
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, False)
        # The engine opens the reading end itself, and closes it when the client has gone.
        protocol.response_file(status, headers, f"/dev/fd/{reader}")
        written = 0
        for block in blocks:
            written += len(block)
            _write(writer, block, seconds)
            if written > LARGE and reader:  # More than the pipe holds, so the engine has opened it.
                os.close(reader)
                reader = 0
        return written
    finally:
        os.close(writer)
        if reader:
            os.close(reader)


def _write(writer: int, block: bytes, seconds: float) -> None:
    rest = memoryview(block)
    while rest:
        try:
            rest = rest[os.write(writer, rest) :]
        except BlockingIOError:
            waiting = select.poll()
            waiting.register(writer, select.POLLOUT)
            if not waiting.poll(1000 * seconds):
                raise TimeoutError from None
