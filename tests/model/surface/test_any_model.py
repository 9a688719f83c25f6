"""Invariants of the surface of any model."""

import re
from dataclasses import replace
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings

from edfi_api.model.metaed.compiler import check_projects
from edfi_api.model.surface.naming import joined_without_overlap, lower_camel
from tests.model.surface.json_schema import exists
from tests.model.surface.models import named
from tests.model.surface.paths import identity_of, paths_of
from tests.model.surface.random_models import (
    Entities,
    chains,
    entities,
    paths_to_entities,
    paths_to_values,
    project_of,
    surface_of,
    value_of,
)
from tests.support.examples import examples

PROPOSAL = re.compile(r"^ambiguous: .*'(merge \S+ with \S+)'")


def proposed_merges(made: Entities) -> list[tuple[str, str]]:
    """The merges that warnings about ambiguous paths propose, each with the entity that needs it."""
    with TemporaryDirectory() as folder:
        project = project_of(made, folder)
        lines = (project / "Model.metaed").read_text().splitlines()
        _, problems = check_projects([project])
    assert [problem for problem in problems if not PROPOSAL.search(problem.message)] == []
    headers = [[line for line in lines[: problem.place.line] if line[0].isupper()] for problem in problems]
    return [
        (above[-1].split()[2], PROPOSAL.search(problem.message)[1])
        for problem, above in zip(problems, headers, strict=True)
    ]


@given(entities(paths_to_entities) | entities(paths_to_values))
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_path_exists_and_every_reference_can_be_followed(made: Entities) -> None:
    surface = surface_of(made)

    for resource in surface.resources:
        assert [str(path) for path in paths_of(resource) if not exists(path, resource.json_schema)] == []
        for reference in resource.references:
            assert {pair.there for pair in reference.identity} == identity_of(surface, reference.target)


@given(entities(paths_to_values))
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_merged_school_years_and_unique_ids_stay_query_fields(made: Entities) -> None:
    surface = surface_of(made)

    for name in made:
        expected = {
            lower_camel(joined_without_overlap((*(step.role for step in (reference, *chain)), value_of(end))))
            for reference in made[name]
            if not reference.is_collection
            for chain, end in chains(reference.target, made)
        }
        assert expected <= {field.name for field in named(surface, name).query_fields}


@given(entities(paths_to_values))
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_proposed_merge_is_valid_and_resolves_the_ambiguity(made: Entities) -> None:
    while proposals := proposed_merges(made):
        name, merge = proposals[0]
        carrier = merge.split()[1].partition(".")[0]
        made[name] = [
            replace(reference, merges=(*reference.merges, merge)) if reference.full_name == carrier else reference
            for reference in made[name]
        ]
        assert proposals[0] not in proposed_merges(made)
