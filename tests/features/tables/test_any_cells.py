"""Whatever cells contain, rows become documents or problems."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.core.served import current_surface
from edfi_api.features.tables.exceptions import UnreadableTable
from edfi_api.features.tables.loading import Loader
from edfi_api.features.tables.mapping import TableMapping
from edfi_api.features.tables.members import Members
from edfi_api.features.tables.reading import open_table
from edfi_api.features.tables.suggesting import DescriptorWords
from edfi_api.features.tables.template import MappedMember, Template
from tests.support.databases import DOCUMENTS
from tests.support.examples import examples

COLUMNS = {
    "id": "studentUniqueId",
    "first": "firstName",
    "born": "birthDate",
    "sex": "birthSexDescriptor",
    "twin": "multipleBirthStatus",
    "code": "identificationDocuments[0].identificationDocumentUseDescriptor",
}
CELLS = st.text(max_size=30) | st.sampled_from(
    ["#N/A", "95%", "yes", "a#b", "uri://x#y", "=1+1", "\0", "9" * 400, "1e999"]
)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.lists(CELLS, min_size=len(COLUMNS), max_size=len(COLUMNS)), min_size=1, max_size=4))
def test_any_cells_give_documents_or_problems(school, client_with_any, rows):
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in (list(COLUMNS), *rows)]
    content = "\r\n".join(lines).encode("utf-8", "surrogatepass")
    try:
        table = open_table(content)
        found = list(table.rows())
    except UnreadableTable:
        return
    template = Template("/ed-fi/students", tuple(MappedMember(member, name) for name, member in COLUMNS.items()))
    resource = template.of(current_surface())
    mapping = TableMapping(template, Members(resource), table.header, DescriptorWords(DOCUMENTS))
    loader = Loader(resource, mapping, client_with_any.pk, DOCUMENTS, is_dry_run=True)

    results = [each for chunk in loader.results(mapping.documents(found)) for each in chunk]

    assert [each.row for each in results] == [row.number for row in found]
    assert all(each.problems for each in results if each.outcome == "refused")
    assert not any("unexpected" in problem.text.lower() for each in results for problem in each.problems)
