"""Texts of connection strings → where they lead: URLs, libpq's and ADO.NET's keywords, names of variables and files.

Only what names the database and how to reach it is taken. Everything else is dropped: `service`, `passfile`, `sslkey`
or `options` would let users who may enter connection strings read files of the server or change its sessions.

They are stored encrypted with keys derived from the settings, so that a dump of the admin database alone opens no
data store.
"""

import base64
import ipaddress
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import is_printable
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey

LONGEST = 1000
# The admin database as a data store.
MAIN = "main"
# In the place of passwords, or of whole connection strings, where these are shown.
MASK = "***"
_ANY_HOST = "*"
_STANDARD_PORT = "5432"
_VARIABLES = "MEADOWLARK_STORE_"
_SECRETS = Path("/run/secrets")
_TAKEN = {"host", "port", "user", "password", "dbname", "sslmode", "target_session_attrs"}
# Our own keyword: `transaction` for a pooler in transaction mode.
_POOL = re.compile(r"(?:(?<=[?&;\s])|\A)pool=(\w+)(?:[&;\s]|\Z)")
# ADO.NET's names, without spaces and in lower case.
_ADO = {
    "host": "host",
    "server": "host",
    "port": "port",
    "username": "user",
    "userid": "user",
    "user": "user",
    "uid": "user",
    "password": "password",
    "pwd": "password",
    "database": "dbname",
    "initialcatalog": "dbname",
    "sslmode": "sslmode",
    "targetsessionattributes": "target_session_attrs",
}
_ADO_FORM = re.compile(r";\s*(?:[A-Za-z][\w ]*=|\Z)")
_ADO_PAIR = re.compile(r"""\s*([^=;]+?)\s*=\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|[^;]*?)\s*(?:;|\Z)""")
_ADO_VALUES = {"verifyca": "verify-ca", "verifyfull": "verify-full"}


def encrypt(text: str) -> str:
    """Encrypted with the first of the keys, as ASCII. Raises NoStoreKey if there is none that outlasts the process."""
    return _keys().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Decrypted with any of the keys. Raises ConnectionUnusable."""
    try:
        return _keys().decrypt(encrypted).decode()
    except (InvalidToken, NoStoreKey):
        raise ConnectionUnusable("it cannot be decrypted: MEADOWLARK_STORE_KEY is another one") from None


def _keys() -> MultiFernet:
    keys = [Fernet(_derived(secret)) for secret in api_settings.STORE_KEYS]
    if not keys:
        raise NoStoreKey
    return MultiFernet(keys)


def _derived(secret: str) -> bytes:
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"data store").derive(secret.encode())
    return base64.urlsafe_b64encode(key)


@dataclass(frozen=True, slots=True)
class Destination:
    """The place to which a connection string leads. `options` are `sslmode` and `target_session_attrs`, as far as
    given; `is_pooled` says that there is a pooler in transaction mode; `dropped` are keywords that were not taken.
    """

    host: str
    port: str
    user: str
    database: str
    password: str = field(default="", repr=False)
    options: Mapping[str, str] = field(default_factory=dict)
    is_pooled: bool = False
    dropped: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return a text for people, without user and password."""
        return f"{self.host or 'local socket'}{f':{self.port}' if self.port else ''}/{self.database}"

    @property
    def servers(self) -> set[tuple[str, str]]:
        """Host and port of each server that may have the database."""
        return servers(self.host, self.port)


def destination(text: str) -> Destination:
    """Return where the text leads, after following `env:` and `file:`; not for MAIN.

    Raises ConnectionUnusable, whose reason quotes no part of the text, since any part may belong to the password.
    """
    return _read(_followed(text.strip()))


def servers(hosts: str, ports: str) -> set[tuple[str, str]]:
    """Hosts with their ports, each separated by commas, as libpq reads them: one port may be that of all hosts."""
    names, numbers = hosts.split(","), ports.split(",")
    numbers = numbers * len(names) if len(numbers) == 1 else numbers
    return {(name.lower(), number or _STANDARD_PORT) for name, number in zip_longest(names, numbers, fillvalue="")}


def is_masked(text: str) -> bool:
    """Return whether asterisks stand in the place of the password, or of something in a text that cannot be read."""
    try:
        password = _read(text.strip()).password
    except ConnectionUnusable:
        return MASK in text
    return bool(password) and not password.strip("*")


def _followed(text: str) -> str:
    kind, separator, name = text.partition(":")
    if separator and kind == "env":
        if not name.startswith(_VARIABLES):
            raise ConnectionUnusable(f"the name of its variable has to begin with {_VARIABLES}")
        value = os.environ.get(name, "").strip()
        if not value:
            raise ConnectionUnusable("its variable is not set")
        return value
    if separator and kind == "file":
        return _text_of(Path(name))
    return text


def _text_of(path: Path) -> str:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(_SECRETS):
            raise ConnectionUnusable(f"its file has to be below {_SECRETS}")
        with real.open(encoding="utf-8") as file:
            return file.read(LONGEST).strip()
    except (OSError, ValueError):
        raise ConnectionUnusable("its file cannot be read") from None


def _read(text: str) -> Destination:
    if not text or len(text) > LONGEST or not is_printable(text):
        raise ConnectionUnusable("it is empty, too long, or not text")
    pools = _POOL.findall(text)
    if any(pool != "transaction" for pool in pools):
        raise ConnectionUnusable("the only value of `pool` is `transaction`")
    text = _POOL.sub("", text).rstrip("?& ")
    given = _keywords(text) if "://" in text else _ado_keywords(text) if _ADO_FORM.search(text) else _keywords(text)
    if not given.get("dbname"):
        raise ConnectionUnusable("it names no database")
    return Destination(
        host=given.get("host", ""),
        port=given.get("port", ""),
        user=given.get("user", ""),
        database=given["dbname"],
        password=given.get("password", ""),
        options={name: given[name] for name in ("sslmode", "target_session_attrs") if given.get(name)},
        is_pooled=bool(pools),
        dropped=tuple(sorted(set(given) - _TAKEN)),
    )


def _keywords(text: str) -> dict[str, str]:
    """Return the keywords of a URL or of libpq's own form, as libpq reads them."""
    try:
        return {name: str(value) for name, value in conninfo_to_dict(text).items() if value is not None}
    except (ProgrammingError, UnicodeError):
        raise ConnectionUnusable("it is not a connection string of PostgreSQL") from None


def _ado_keywords(text: str) -> dict[str, str]:
    pairs = list(_pairs(text))
    given = {_ADO.get(name, name): value for name, value in pairs}
    if "sslmode" in given:
        mode = given["sslmode"].lower()
        given["sslmode"] = _ADO_VALUES.get(mode, mode)
    return given


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    rest = text.strip().rstrip(";")
    while rest:
        pair = _ADO_PAIR.match(rest)
        if pair is None:
            raise ConnectionUnusable("it is not a connection string of PostgreSQL")
        yield pair[1].replace(" ", "").lower(), _unquoted(pair[2])
        rest = rest[pair.end() :]


def _unquoted(value: str) -> str:
    quote = value[:1]
    if len(value) >= 2 and quote in "\"'" and value.endswith(quote):
        return value[1:-1].replace(quote * 2, quote)
    return value


def is_allowed(host: str, allowed: Collection[str]) -> bool:
    """Return whether the host is among the names and networks."""
    if _ANY_HOST in allowed:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower() in {each.lower() for each in allowed}
    return any(address in network for each in allowed if (network := _network(each)))


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def masked(encrypted: str | None) -> str | None:
    """A stored connection string as it is shown, without its password."""
    if encrypted is None:
        return None
    try:
        text = decrypt(encrypted)
        if text == MAIN:
            return MAIN
        where = destination(text)
    except ConnectionUnusable:
        return MASK
    shown = {"host": where.host, "port": where.port, "username": where.user, "database": where.database}
    return "".join(f"{name}={value};" for name, value in shown.items() if value) + f"password={MASK}"
