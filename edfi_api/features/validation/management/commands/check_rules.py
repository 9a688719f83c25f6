"""`manage.py check_rules [PATH …]`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import CommandError

from edfi_api.common.commands import add_database, name, path
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.served import current_surface
from edfi_api.core.writes.rules.configured import ConfiguredRules, rules_named
from edfi_api.core.writes.rules.configured import configured_rules as write_rules_of_settings
from edfi_api.core.writes.rules.declared import declaring_files
from edfi_api.features.validation.checking import large_scans, plan, problems, served
from edfi_api.features.validation.connections import NoLogin
from edfi_api.features.validation.rule_files import RuleSet, configured_rules


class Command(DataStoreCommand):
    """See the module."""

    help = (
        "Checks rules of validation without running them: their metadata, and whether PostgreSQL can plan their"
        " queries; and rules of writes: whether they fit the data standard. Prints every problem with file and line."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="*", type=path, metavar="PATH", help="files and folders; without any, the configured ones"
        )
        parser.add_argument("--explain", type=name, metavar="RULE", help="show the plan of the rule of this identifier")
        add_database(parser, "the database by which queries are planned")

    def handle(self, *args: Any, paths: list[Path], explain: str | None, database: str, **options: Any) -> None:
        of_validation = [each for each in paths if each.suffix != ".toml"]
        found = configured_rules(of_validation) if of_validation or not paths else RuleSet((), ())
        surface = current_surface()
        rules = served(found.rules, surface)
        if explain is not None:
            self._explain(explain, found, database)
            return
        of_writes = _rules_of_writes(paths)
        wrong: list[object] = [*found.problems, *(each for rule in rules for each in problems(rule, surface, database))]
        wrong += of_writes.problems
        for problem in wrong:
            self.stdout.write(printable(str(problem)))
        if wrong:
            raise CommandError(f"{counted(len(wrong), 'problem')} in rules")
        for rule in rules:
            for table in [] if rule.find else large_scans(rule, surface, database):
                self.stderr.write(f"{rule.path}: warning: reads more than 100,000 rows of {table} one after the other")
        self._count("rule", len(rules), len(found.rules) - len(rules))
        if of_writes.rules or of_writes.left_out:
            self._count("write rule", len(of_writes.rules), len(of_writes.left_out))

    def _count(self, kind: str, good: int, others: int) -> None:
        for_others = f", {others} for other standards" if others else ""
        self.stdout.write(f"{counted(good, kind)} without problems{for_others}")

    def _explain(self, identifier: str, found: RuleSet, database: str) -> None:
        rule = next((each for each in found.rules if each.identifier == identifier and not each.find), None)
        if rule is None:
            raise CommandError(f"There is no rule {identifier} in SQL.")
        try:
            self.stdout.write(plan(rule, current_surface(), database))
        except NoLogin as error:
            raise CommandError(f"{rule.path} {error}") from error
        except psycopg.Error as error:
            raise CommandError(f"{rule.path}: {error.diag.message_primary or error}") from error


def _rules_of_writes(paths: list[Path]) -> ConfiguredRules:
    """Return the rules in files and folders of TOML; without paths, those of the settings."""
    if not paths:
        return write_rules_of_settings()
    return rules_named(tuple(str(file) for path in paths for file in declaring_files(path)))
