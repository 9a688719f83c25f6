"""Rules of a host, as the setting names them."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Thread

from edfi_api.core.writes.rules import Finding, FindingSeverity, RuledWrite, on_write

ENROLLMENTS = "ed-fi/studentSchoolAssociations"

# What the rule for birth dates was given, and what happens while it runs, once.
asked: list[RuledWrite] = []
meanwhile: list[Callable[[], object]] = []
# The names of students for which a rule computed for too long.
computed: list[str] = []


@on_write(ENROLLMENTS, name="grade-level")
def offered_grade_level(write: RuledWrite) -> Iterator[Finding]:
    """The school offers the grade level."""
    for school in write.documents.referenced("$.schoolReference"):
        offered = {each["gradeLevelDescriptor"] for each in school["gradeLevels"]}
        if write.document["entryGradeLevelDescriptor"] not in offered:
            yield Finding("$.entryGradeLevelDescriptor", f"{school['nameOfInstitution']} lacks this grade level.")


@on_write("ed-fi/StudentSchoolAssociation", name="one-enrollment")
def one_enrollment(write: RuledWrite) -> Iterator[Finding]:
    """A student is enrolled once."""
    filters = {"studentUniqueId": write.document["studentReference"]["studentUniqueId"]}
    for other in write.documents.where(ENROLLMENTS, filters):
        if other["schoolReference"] != write.document["schoolReference"]:
            yield Finding("$.studentReference", "The student is enrolled at another school.")


@on_write("ed-fi/students", name="birth-date")
def kept_birth_date(write: RuledWrite) -> list[Finding]:
    """A birth date is not changed without notice."""
    asked.append(write)
    if write.stored is not None and meanwhile:
        thread = Thread(target=meanwhile.pop())
        thread.start()
        thread.join()
    if write.stored is not None and write.stored["birthDate"] != write.document["birthDate"]:
        return [Finding("$.birthDate", "The birth date has changed: “really”?", FindingSeverity.WARN)]
    return []


@on_write("ed-fi/students", name="first-name", reads_document_only=True)
def capital(write: RuledWrite) -> Iterator[Finding]:
    """Names begin with a capital letter."""
    if not write.document["firstName"][0].isupper():
        yield Finding("$.firstName", "The first name has to begin with a capital letter.")


@on_write("ed-fi/students", name="by-name")
def misbehaves(write: RuledWrite) -> Iterator[Finding]:
    """Fails in ways that the last name of the student says."""
    match write.document["lastSurname"]:
        case "Error":
            raise KeyError("lastSurname")
        case "Exit":
            sys.exit("lastSurname")
        case "Parsing":
            int(write.document["studentUniqueId"] + "?")
        case "Nothing":
            yield None  # type: ignore[misc]
        case "NoText":
            yield Finding("$.lastSurname", None)  # type: ignore[arg-type]
        case "NoSeverity":
            yield Finding("$.lastSurname", "So so.", "medium")  # type: ignore[arg-type]
        case "Surrogate":
            yield Finding("$.last\udc00", "Half of \ud83d\x00.", FindingSeverity.WARN)
        case "RefusedSurrogate":
            yield Finding("$.last\udc00", "Half of \ud83d\x00.")
        case "Waiting":
            time.sleep(0.6)
        case "LookUps":
            for _ in range(11):
                with suppress(Exception):  # The rule has failed, whatever it makes of it.
                    write.documents.by_key("ed-fi/students", {"studentUniqueId": "604822"})
        case "Computing":
            computed.append(write.document["firstName"])
            began = time.thread_time()
            while time.thread_time() - began < 0.1:
                pass
        case "Filter":
            write.documents.where("ed-fi/students", {"shoeSize": 40})
        case "TenLookUps":
            for _ in range(10):
                assert write.documents.by_key("ed-fi/students", {"studentUniqueId": "none"}) is None


@on_write(name="all", reads_document_only=True)
def every_resource(write: RuledWrite) -> Iterator[Finding]:
    """No document of any resource says so."""
    if "No rule" in str(write.document):
        yield Finding("$", f"A document of {write.resource} says so.")
