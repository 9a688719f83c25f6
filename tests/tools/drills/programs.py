"""The programs of others that drills run, and why a drill is not possible on this machine."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterable

from tests.whole.robustness.accounts import ACCOUNT

# What PATH may lack for an account that is root by `su`.
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
_PACKAGES = {
    "etcd": "etcd-server",
    "pgbackrest": "pgbackrest",
    "pgbouncer": "pgbouncer",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "ip": "iproute2",
}
_PRIVATE = ["unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]


def obstacle(needed: Iterable[str]) -> str:
    """Why the machine cannot run a drill that needs these programs; empty if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs Linux and root, since it runs in namespaces of its own"
    for name in ("unshare", "setpriv", "ip", *needed):
        if shutil.which(name, path=_PATH) is None:
            return f"needs the program {name} (Debian: apt-get install {_PACKAGES[name]})"
    tried = subprocess.run([*_PRIVATE, "true"], capture_output=True, text=True, check=False)
    return f"namespaces are not permitted here: {tried.stderr.strip()}" if tried.returncode else ""


def found(name: str) -> str:
    """The path of a program that is no obstacle."""
    return shutil.which(name, path=_PATH) or name


def privately(command: Iterable[str]) -> list[str]:
    """The command in namespaces of its own: no other hosts are in its network, and its children end with it."""
    # The first process of a namespace has to wait for orphans, or they stay in the table of processes; a shell does.
    return [*_PRIVATE, "sh", "-c", '"$@"; exit $?', "sh", *command]


def as_postgres(command: Iterable[str]) -> list[str]:
    """The command under the account of PostgreSQL, which refuses to run as root. It may read every folder: the
    checkout, or the interpreter of its virtual environment, may be in one of root's."""
    account = pwd.getpwnam(ACCOUNT)
    identity = [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    rights = [f"--{kind}=-all,+dac_read_search" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
    return ["setpriv", *identity, *rights, *command]
