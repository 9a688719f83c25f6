"""`manage.py check_rules [PATH …]`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import CommandError

from edfi_api.logs.printable import counted, printable
from edfi_api.management.arguments import add_database, name, path
from edfi_api.management.data_store_command import DataStoreCommand
from edfi_api.startup import current_surface
from edfi_api.validation.checking import large_scans, plan, problems, served
from edfi_api.validation.login import NoLogin
from edfi_api.validation.rule_files import RuleSet, configured_rules


class Command(DataStoreCommand):
    """See the module."""

    help = (
        "Checks rules of validation without running them: their metadata, and whether PostgreSQL can plan their"
        " queries. Prints every problem with file and line."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="*", type=path, metavar="PATH", help="files and folders; without any, the configured ones"
        )
        parser.add_argument("--explain", type=name, metavar="RULE", help="show the plan of the rule of this identifier")
        add_database(parser, "the database by which queries are planned")

    def handle(self, *args: Any, paths: list[Path], explain: str | None, database: str, **options: Any) -> None:
        found = configured_rules(paths)
        surface = current_surface()
        rules = served(found.rules, surface)
        if explain is not None:
            self._explain(explain, found, database)
            return
        wrong = [*found.problems, *(each for rule in rules for each in problems(rule, surface, database))]
        for problem in wrong:
            self.stdout.write(printable(str(problem)))
        if wrong:
            raise CommandError(f"{counted(len(wrong), 'problem')} in rules")
        for rule in rules:
            for table in [] if rule.find else large_scans(rule, surface, database):
                self.stderr.write(f"{rule.path}: warning: reads more than 100,000 rows of {table} one after the other")
        others = len(found.rules) - len(rules)
        for_others = f", {others} for other standards" if others else ""
        self.stdout.write(f"{counted(len(rules), 'rule')} without problems{for_others}")

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
