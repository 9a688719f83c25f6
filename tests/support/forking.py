"""Programs of the product in a fork of the process of the tests, which has loaded it: starting Python and loading all
modules takes a second of processor time. For tests of what programs do with a database; how they start is tested with
real processes."""

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from typing import NoReturn, TextIO

from django.contrib.contenttypes.models import ContentType
from django.db import DEFAULT_DB_ALIAS, connections

from meadowlark import prepare
from meadowlark.run import command_line


def forked(program: Callable[[], object], database: str) -> CompletedProcess[str]:
    """Runs it with the database of this name on the server of the tests; SystemExit is its status, as of a process."""
    with ExitStack() as opened:
        out, err = (opened.enter_context(TemporaryFile("w+")) for _ in range(2))
        child = os.fork()
        if not child:
            _run_and_exit(program, database, out, err)
        _, status = os.waitpid(child, 0)
        for file in (out, err):
            file.seek(0)
        return CompletedProcess([], os.waitstatus_to_exitcode(status), out.read(), err.read())


def manage(*arguments: str) -> None:
    """`manage.py` with these arguments."""
    sys.argv = ["manage.py", *arguments]
    command_line.main()


def preparing(*arguments: str) -> NoReturn:
    """`python -m meadowlark.prepare` with these arguments."""
    sys.exit(prepare.main(arguments))


def _run_and_exit(program: Callable[[], object], database: str, out: TextIO, err: TextIO) -> NoReturn:
    status = 1
    try:
        sys.stdout, sys.stderr = out, err
        # Kept, not closed: the parent goes on to use them.
        _inherited = [connections[alias] for alias in connections]
        for alias in connections:
            del connections[alias]
        connections.settings[DEFAULT_DB_ALIAS]["NAME"] = database
        ContentType.objects.clear_cache()
        program()
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc(file=err)
    finally:
        out.flush()
        err.flush()
        os._exit(status)
