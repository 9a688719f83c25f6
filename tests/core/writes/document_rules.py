"""Rules that read the document only."""

from collections.abc import Iterator

from edfi_api.core.writes.rules import Finding, FindingSeverity, RuledWrite, on_write


@on_write("ed-fi/students", name="capitals", reads_document_only=True)
def capitals(write: RuledWrite) -> Iterator[Finding]:
    """Names begin with a capital letter."""
    for member, name in (("firstName", "first name"), ("middleName", "middle name")):
        if not write.document.get(member, "A")[0].isupper():
            yield Finding(f"$.{member}", f"The {name} has to begin with a capital letter.")


@on_write("ed-fi/students", name="lund", reads_document_only=True)
def another_lund(write: RuledWrite) -> Iterator[Finding]:
    """There are many."""
    if write.document["lastSurname"] == "Lund":
        yield Finding("$.lastSurname", "Another Lund?", FindingSeverity.WARN)


@on_write("ed-fi/studentSchoolAssociations", name="case", reads_document_only=True)
def stored_case(write: RuledWrite) -> Iterator[Finding]:
    """Descriptors come as they are stored."""
    if write.document["entryGradeLevelDescriptor"].isupper():
        yield Finding("$.entryGradeLevelDescriptor", "It is in upper case.")
