"""Invariants of the schemas of any model: they are valid, every type exists, and names are unique."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.xsd.files import schema_files
from edfi_api.model.xsd.schema_file import SchemaFiles
from tests.model.surface.models import write_project
from tests.model.xsd.models import SHARED_STRINGS, Schemas, loaded, parsed, saved
from tests.model.xsd.outline import XS
from tests.support.examples import examples

# Targets of the texts, so that all of them compile.
FIXED = """
Domain Entity School
  integer SchoolId is part of identity
  common Address is optional collection
  common Meeting is optional
Abstract Entity Organization
  string OrganizationCode is part of identity
Common Address
  string City is part of identity
Common Meeting
  date Day is part of identity
Inline Common Span
  date From is required
  date Until is part of identity
Choice Way
  bool Walk is required
  descriptor Color is required
Descriptor Color
Enumeration SchoolYear
  item "2025-2026"
Shared Integer Number min value 1
"""
# `p` is the namespace prefix of names of the core, `n` makes a name unique.
TYPES = [
    "bool A{n}",
    "string B{n}",
    "integer C{n}",
    "decimal D{n}",
    "currency E{n}",
    "descriptor {p}Color role name F{n}",
    "enumeration {p}SchoolYear role name G{n}",
    "common {p}Address role name H{n}",
    "inline common {p}Span role name I{n}",
    "choice {p}Way role name J{n}",
    "domain entity {p}School role name K{n}",
    "shared integer {p}Number named L{n}",
]
CARDINALITIES = ["is required", "is optional", "is required collection", "is optional collection"]

properties = st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(CARDINALITIES)), max_size=5)
entities = st.lists(properties, min_size=1, max_size=3)


def clauses(members: list[tuple[str, str]], prefix: str) -> str:
    """At most one choice, since their members would occur twice; inline commons are no collections."""
    lines = []
    for number, (type_, cardinality) in enumerate(members):
        name, _, role = type_.format(n=number, p=prefix).partition(" role name ")
        if name.startswith("choice") and any(line.strip().startswith("choice") for line in lines):
            continue
        once = cardinality.removesuffix(" collection") if name.startswith("inline") else cardinality
        lines.append(f"  {name} {once}" + (f" role name {role}" if role else ""))
    return "\n".join(lines)


def core_text(made: list[list[tuple[str, str]]], based: bool) -> str:
    text = FIXED
    for number, members in enumerate(made):
        base = " based on Organization" if based and number else ""
        identity = "renames identity property OrganizationCode" if base else "is part of identity"
        text += f"Domain Entity Core{number}{base}\n  string Core{number}Code {identity}\n{clauses(members, '')}\n"
        text += f"Common Part{number}\n  string Part{number}Code is part of identity\n{clauses(members, '')}\n"
    items = "\n".join(f"  domain entity {'identity ' if number % 2 else ''}Core{number}" for number in range(len(made)))
    return f"{text}Interchange Cores\n  domain entity School\n{items}\n"


def extension_text(made: list[list[tuple[str, str]]], extended: list[tuple[str, str]], overrides: bool) -> str:
    text = "Common EdFi.Address additions\n  bool Lake is optional\nDescriptor Paint\n"
    for number, members in enumerate(made):
        identity = f"  string Own{number}Code is part of identity"
        text += f"Domain Entity Own{number}\n{identity}\n{clauses(members, 'EdFi.')}\n"
    override = "  common extension EdFi.Address is optional collection\n" if overrides else ""
    text += f"Domain Entity EdFi.School additions\n  bool Lake is optional\n{override}{clauses(extended, 'EdFi.')}\n"
    return text + "Interchange EdFi.Cores additions\n  domain entity Own0\n"


def files_of(core: str, extension: str) -> SchemaFiles:
    with TemporaryDirectory() as folder:
        paths = [
            write_project(Path(folder) / "core", "Ed-Fi", SHARED_STRINGS + core),
            write_project(Path(folder) / "lake", "Lake", extension, "1.0.0"),
        ]
        return schema_files(compile_projects(paths))


def types_of(schemas: Schemas) -> list[str]:
    """All types of all files except the annotations, which have a separate namespace."""
    roots = [root for name, root in schemas.items() if name != "SchemaAnnotation.xsd"]
    return [node.get("name") for root in roots for node in root if node.tag in (f"{XS}complexType", f"{XS}simpleType")]


def referred_to(schemas: Schemas) -> set[str]:
    nodes = [node for root in schemas.values() for node in root.iter(f"{XS}*")]
    return {
        name for node in nodes for name in (node.get("type"), node.get("base")) if name and not name.startswith("xs:")
    }


@given(core=entities, own=entities, extended=properties, based=st.booleans(), overrides=st.booleans())
@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_file_is_valid_every_type_exists_and_no_name_occurs_twice(core, own, extended, based, overrides) -> None:
    files = files_of(core_text(core, based), extension_text(own, extended, overrides))

    assert files.warnings == ()
    schemas = parsed(files.of("Lake"))
    types = types_of(schemas)
    assert len(types) == len(set(types)) > 30
    assert referred_to(schemas) <= set(types)
    with TemporaryDirectory() as folder:
        assert len(loaded(saved(files.of("Lake"), Path(folder)))) == len(schemas) >= 7
