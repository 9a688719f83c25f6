"""Collection, order and display of problems."""

from pathlib import Path

import pytest

from edfi_api.model.metaed.compiler import check_projects, compile_projects
from edfi_api.model.metaed.errors import MetaEdError, ModelErrors, Problem, ProblemSeverity, excerpt
from edfi_api.model.metaed.model import Model, SourceLocation
from tests.model.metaed.projects import MessagesOf, write_project


def test_all_problems_of_all_files_are_raised_together_in_order_of_place(tmp_path: Path):
    project = write_project(tmp_path, "Ed-Fi", "")
    (project / "b.metaed").write_text('Descriptor Fuel documentation "."\nCommon Seat', encoding="utf-8")
    (project / "a.metaed").write_text(
        'Common Tank documentation "."\n    descriptor Gas documentation "." is required\nChoice', encoding="utf-8"
    )

    with pytest.raises(ModelErrors) as raised:
        compile_projects([project])

    assert str(raised.value).replace(f"{tmp_path}/", "").splitlines() == [
        "a.metaed:2:16: there is no descriptor 'Gas' in EdFi",
        '     2 |     descriptor Gas documentation "." is required',
        "       |                ^",
        "a.metaed:3:7: the declaration ends too early; expected a name",
        "     3 | Choice",
        "       |       ^",
        "b.metaed:2:12: the declaration ends too early; "
        "expected 'additions', 'based on', 'deprecated' or 'documentation'",
        "     2 | Common Seat",
        "       |            ^",
    ]


def test_model_errors_have_a_common_base_class():
    assert issubclass(ModelErrors, MetaEdError)


def test_warnings_come_with_the_model(tmp_path: Path):
    text = 'Common Seat documentation "." bool Window documentation inherited is required'

    model, (problem,) = check_projects([write_project(tmp_path, "Ed-Fi", text)])

    assert model is not None
    assert problem.severity is ProblemSeverity.WARNING
    assert str(problem).startswith(
        f"{tmp_path / 'model.metaed'}:1:36: warning: a bool has no documentation to inherit\n"
    )


def test_expectations_are_available_as_values(tmp_path: Path):
    text = 'Descriptor Fuel documentation "."\nAssociation A documentation "." domain entity B documentation C'

    _, (problem,) = check_projects([write_project(tmp_path, "Ed-Fi", text)])

    assert problem.expected == ("a text in quotation marks", "'inherited'")


def test_an_error_in_one_declaration_hides_none_in_the_next(messages_of: MessagesOf):
    messages = messages_of("""
        Common A documentation
        Common B documentation "." bool
        Common C documentation "." bool D documentation "." is required is required
    """)

    assert [message.split(":")[0] for message in messages] == ["2", "3", "4"]


def test_semantic_errors_are_reported_with_syntax_errors(messages_of: MessagesOf):
    messages = messages_of("""
        Common A documentation
        Domain Entity B documentation "." bool C documentation "." is required
    """)

    assert messages == [
        "2: the declaration ends too early; expected a text in quotation marks",
        "3: domain entity 'B' has no property that is part of its identity",
    ]


def test_a_caret_marks_the_column_also_after_tabs():
    assert excerpt("\t\tbool X", SourceLocation("f", 7, 8)) == "     7 | \t\tbool X\n       | \t\t     ^"


def test_a_long_line_is_truncated_around_the_column():
    shown, caret = excerpt("a" * 500 + "X" + "b" * 500, SourceLocation("f", 1, 501)).split("\n")

    assert len(shown) < 140
    assert shown[caret.index("^")] == "X"


def test_all_circles_are_reported_and_what_is_ambiguous_outside_of_them(messages_of: MessagesOf):
    entity = 'Domain Entity {} documentation "." domain entity {} documentation "." is part of identity\n'
    core = entity.format("A", "B") + entity.format("B", "A") + entity.format("C", "D") + entity.format("D", "C")
    twice = 'descriptor Fuel documentation "." is part of identity\ncommon Tank documentation "." is required'

    messages = messages_of(
        f'{core}Descriptor Fuel documentation "."\n'
        'Common Tank documentation "." descriptor Fuel documentation "." is part of identity\n'
        f'Domain Entity E documentation "." {twice}'
    )

    assert sorted(message.partition(";")[0] for message in messages) == [
        "1: is circular: 'A' → 'B' → 'A'",
        "3: is circular: 'C' → 'D' → 'C'",
        "8: warning: ambiguous: Tank.Fuel and Fuel may be the same or not",
    ]


def test_rules_of_users_run_on_what_is_sound_beside_errors(tmp_path: Path):
    """An entity is unsound if there is an error in it, or if it refers to an unsound one."""
    core = 'Domain Entity Depot documentation "." integer DepotId documentation "." is part of identity'
    extension = """
        Domain Entity Bus
            documentation "."
            integer BusId documentation "." is part of identity
            domain entity EdFi.Deppot documentation "." is required
        Domain Entity Seat
            documentation "."
            integer SeatId documentation "." is part of identity
            domain entity Bus documentation "." is required
        Domain Entity Stop
            documentation "."
            integer StopId documentation "." is part of identity
    """
    projects = [write_project(tmp_path / "core", "Ed-Fi", core), write_project(tmp_path / "x", "Transit", extension)]
    seen: list[str] = []

    def rule(model: Model) -> list[Problem]:
        seen.extend(key.name for key in model.entities)
        return []

    model, (problem,) = check_projects(projects, rule)

    assert model is None
    assert problem.message == "there is no domain entity 'Deppot' in EdFi; did you mean 'Depot'?"
    assert seen == ["Depot", "Stop"]


def test_the_files_of_a_project_whose_description_has_errors_are_checked(tmp_path: Path):
    project = write_project(
        tmp_path, "Ed-Fi", 'Common Tank documentation "." descriptor Gas documentation "." is required', ""
    )

    assert [problem.message for problem in check_projects([project])[1]] == [
        "there is no descriptor 'Gas' in EdFi",
        "'projectVersion' must be a text",
    ]
