"""Writes the pages of `meadowlark/docs/reference/` that are made from code, settings and commands, and the notebook of
the questions in SQL and the Postman collections of the example requests, which are made from their pages and files.

    python -m meadowlark.reference_pages

writes them (`make docs`); a test compares them.
"""

import json
import os
import re
from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, DjangoHelpFormatter

from edfi_api.common.ods_compatibility import NOT_FOLLOWED, OdsArea, OdsCompatibility
from edfi_api.common.settings_table import GROUPS, SETTINGS, Setting, SettingKind

_DOCS = Path(__file__).parent / "docs"
_FOLDER = _DOCS / "reference"
_QUESTIONS = _DOCS.joinpath("use", "thirty-questions").with_suffix(".md")
_HEADING_OR_QUESTION = re.compile(r"^(## .+|\d+\. .+\n\n```sql\n[^`]*```)$", re.MULTILINE)
# Commands by subject: the apps that have them.
_SUBJECTS = {
    "Documents and the model": ("descriptors", "edfi_api.core"),
    "Loading, export and provisioning": ("edfi_api.features.loading", "edfi_api.features.tables"),
    "Clients and claim sets": ("edfi_api.core.security", "edfi_api.site.sign_in"),
    "API profiles": ("edfi_api.core.security.profiles",),
    "Data stores": ("edfi_api.core.data_stores",),
    "The management API": ("edfi_api.features.management_api",),
    "Changes": ("edfi_api.features.changes.change_queries", "edfi_api.features.changes.change_stream"),
    "Refused writes": ("edfi_api.features.refusals",),
    "Mail": ("edfi_api.features.mail",),
    "Sandboxes, and reports of runs": ("edfi_api.features.sandboxes", "edfi_api.features.runs"),
    "Validation": ("edfi_api.features.validation",),
    "SQL views": ("edfi_api.features.sql_views",),
    "Questions": ("edfi_api.features.questions",),
    "Import from an ODS": ("edfi_api.features.ods_import",),
    "Exchange with other APIs": ("edfi_api.features.exchange", "edfi_api.features.exchange.push"),
    "The schedule and housekeeping": ("edfi_api.site", "edfi_api.site.schedule"),
}
_MADE = "This page is made from the code by `make docs`."


def pages() -> dict[Path, str]:
    """The text of each page, by its path."""
    return {
        _FOLDER.joinpath("settings").with_suffix(".md"): _settings_page(),
        _FOLDER.joinpath("commands").with_suffix(".md"): _commands_page(),
        _FOLDER.joinpath("ods-compatibility").with_suffix(".md"): _ods_page(),
        _QUESTIONS.with_suffix(".ipynb"): _notebook(_QUESTIONS.read_text()),
        **_collections(),
    }


def _collections() -> dict[Path, str]:
    """The example requests of each kind of client as a collection of Postman."""
    # Models can be imported only once Django is set up.
    from edfi_api.features.sandboxes.models import Shape  # noqa: PLC0415
    from edfi_api.features.sandboxes.request_files import FOLDER, collection, file_of  # noqa: PLC0415

    return {
        FOLDER / f"{shape.value}.postman_collection.json": json.dumps(
            collection(f"Meadowlark: {shape.label}", file_of(shape)), indent=2
        )
        + "\n"
        for shape in Shape
    }


def _notebook(page: str) -> str:
    """The questions of the page as a notebook of Jupyter: a heading or a question, then its statement."""
    title, *_ = page.partition("\n")
    cells = [_cell("markdown", f"{title}\n\n{_NOTEBOOK_INTRODUCTION}"), _cell("code", _NOTEBOOK_CODE)]
    for text in _HEADING_OR_QUESTION.findall(page):
        words, _, statement = text.partition("\n\n```sql\n")
        cells.append(_cell("markdown", words))
        if statement:
            cells.append(_cell("code", f'ask("""\n{statement.removesuffix("```")}""")'))
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": numbered, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cell(kind: str, text: str) -> dict[str, Any]:
    of_code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, **of_code, "source": text.splitlines(keepends=True)}


def _settings_page() -> str:
    sections = [f"## {title}\n\n{_table(settings)}" for title, settings in GROUPS.items()]
    return "\n\n".join([_SETTINGS_INTRODUCTION, *sections]) + "\n"


def _table(settings: tuple[Setting, ...]) -> str:
    header = ["| variable | type | default | meaning |", "|---|---|---|---|"]
    return "\n".join([*header, *(_row(setting) for setting in settings)])


def _row(setting: Setting) -> str:
    # Links of the table begin at the top of the repository.
    meaning = setting.meaning.replace("](meadowlark/docs/", "](../")
    return f"| `{setting.variable}` | {_type(setting)} | {setting.shown or _shown(setting.default)} | {meaning} |"


def _type(setting: Setting) -> str:
    return ", ".join(f"`{each}`" for each in setting.choices) if setting.kind is SettingKind.CHOICE else setting.kind


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, tuple):
        return _shown(",".join(default))
    return f"`{default}`" if default != "" else "none"


def _ods_page() -> str:
    """Return what differs from the ODS/API, by area: what the setting follows, then what it does not."""
    sections = [f"## {area}\n\n{tables}" for area in OdsArea if (tables := _ods_tables(area))]
    return "\n\n".join([_ODS_INTRODUCTION, *sections]) + "\n"


def _ods_tables(area: OdsArea) -> str:
    followed = [
        f"| {each.what} | {each.otherwise} | {each.reason} | `{SETTINGS[each.setting].variable}` |"
        for each in (way.value for way in OdsCompatibility)
        if each.area is area
    ]
    others = [f"| {each.what} | {each.here} | {each.reason} |" for each in NOT_FOLLOWED if each.area is area]
    tables = []
    if followed:
        tables.append(["| as the ODS/API | otherwise | why | setting |", "|---|---|---|---|", *followed])
    if others:
        tables.append(["| the ODS/API, not followed | here | why |", "|---|---|---|", *others])
    return "\n\n".join("\n".join(table) for table in tables)


def _commands_page() -> str:
    commands = {subject: list(_commands(apps)) for subject, apps in _SUBJECTS.items()}
    indexes = [f"**{subject}**\n\n{_index(found)}" for subject, found in commands.items()]
    sections = [_section(name, command) for found in commands.values() for name, command in found]
    return "\n\n".join([_COMMANDS_INTRODUCTION, *indexes, _COMMANDS_OF_DJANGO, *sections]) + "\n"


def _commands(apps: tuple[str, ...]) -> Iterator[tuple[str, BaseCommand]]:
    for name, app in sorted(get_commands().items()):
        if app in apps:
            yield name, load_command_class(app, name)


def _index(commands: list[tuple[str, BaseCommand]]) -> str:
    rows = [f"| [`{name}`](#{name}) | {_first_sentence(command.help)} |" for name, command in commands]
    return "\n".join(["| command | |", "|---|---|", *rows])


def _first_sentence(text: str) -> str:
    return _plain(text).partition(". ")[0].rstrip(".") + "."


def _section(name: str, command: BaseCommand) -> str:
    parser = command.create_parser("manage.py", name)
    parts = [f"## {name}", _plain(command.help), _arguments(parser)]
    for choice, of_choice in _choices(parser).items():
        parts += [f"### {name} {choice}", _arguments(of_choice)]
    return "\n\n".join(part for part in parts if part)


def _choices(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """Return what a command can do, each with arguments of its own."""
    found = (action.choices for action in parser._actions if isinstance(action, _SubParsersAction))
    return {name: chosen for choices in found for name, chosen in choices.items()}


def _arguments(parser: ArgumentParser) -> str:
    formatter = parser._get_formatter()
    rows = [
        f"| `{_invocation(action)}` | {_plain(formatter._expand_help(action)) if action.help else ''} |"
        for action in parser._actions
        if not _is_of_every_command(action) and not isinstance(action, _SubParsersAction)
    ]
    return "\n".join(["| argument | |", "|---|---|", *rows]) if rows else ""


def _is_of_every_command(action: Action) -> bool:
    options = set(action.option_strings)
    return action.help == SUPPRESS or bool(options & (DjangoHelpFormatter.show_last | {"--help"}))


def _invocation(action: Action) -> str:
    values = " ".join(_values(action))
    return f"{', '.join(action.option_strings)} {values}".strip().replace("|", "\\|")


def _values(action: Action) -> Iterator[str]:
    """Yield what follows the option, or stands alone for an argument by position."""
    if action.nargs == 0:
        return
    if isinstance(action.metavar, tuple):
        yield " ".join(action.metavar)
        return
    choices = "|".join(str(choice) for choice in action.choices) if action.choices else None
    value = action.metavar or choices or action.dest.upper()
    match action.nargs:
        case "+":
            yield f"{value} …"
        case "*":
            yield f"[{value} …]"
        case "?":
            yield f"[{value}]"
        case int() as number:
            yield " ".join([value] * number)
        case _:
            yield value


def _plain(text: str) -> str:
    """Return the text on one line of a table, where `<` and `|` would be markup."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


_NOTEBOOK_INTRODUCTION = """The questions of the page with this name, from which `make docs` makes this notebook. Set
`READER` to the address of a reader before Jupyter is started."""

_NOTEBOOK_CODE = """import os

import pandas
import psycopg

connection = psycopg.connect(os.environ["READER"], autocommit=True)


def ask(statement):
    rows = connection.execute(statement)
    return pandas.DataFrame(rows.fetchall(), columns=[column.name for column in rows.description])"""

_SETTINGS_INTRODUCTION = f"""# Settings

For operators: the variables of the environment. {_MADE}

For an empty variable the default holds; only an empty `MEADOWLARK_ADMIN_PATH` removes the admin, and an empty
`MEADOWLARK_SCHEDULE` schedules nothing. A value that cannot be used stops every program with one line that names it.
A variable that begins with `MEADOWLARK_` and is not a setting is reported at the start of a server and by `manage.py
check`, with the nearest name."""

_ODS_INTRODUCTION = f"""# Compared with the ODS/API

For those who bring clients of Ed-Fi's older server, the ODS/API: where its answers differ from those of this API, and
which of its ways are followed with `MEADOWLARK_COMPATIBILITY=ods`. {_MADE}

The setting changes how the API reads and answers requests, not what is stored: it can be changed at any time, and what
was written under one value is read under the other. A setting of its own, where there is one, takes precedence. A test
(`tests/whole/compatibility`) sends requests that an ODS/API 7.3 has answered, and compares status, problem type and
texts."""

_COMMANDS_INTRODUCTION = f"""# Commands

For operators: what `manage.py` does. It is run as `.venv/bin/python manage.py COMMAND`, or in a container of Compose as
`docker compose --file docker/compose.yaml exec meadowlark python manage.py COMMAND`. {_MADE}

Commands may be run twice. A failure is reported with its reason and a status other than 0. Commands that write
documents apply the rules of the API, but no authorization: they may write everything. Those that take
`--data-store STORE` (id, name, or context: `schoolYear=2027`) or `--all-data-stores` work on the admin database
without it. While `make run` is up, commands find its database by themselves, by the same `MEADOWLARK_HOME`."""

_COMMANDS_OF_DJANGO = """**Of Django**

| command | |
|---|---|
| `migrate` | Applies the migrations of this version to the database. |
| `check` | Checks settings and the model; `--database default` adds claims and profiles, `--deploy` production. |
| `createsuperuser`, `changepassword` | Makes a user of the admin who may do everything; changes a password. |
| `cleartokens`, `clearsessions` | Removes expired tokens; expired sessions of the admin. |"""


def main() -> None:
    """Write the pages."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    for path, text in pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
