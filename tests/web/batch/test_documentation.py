"""The program of the documentation that sends files of other programs."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

from edfi_api.core.models import Document
from tests.web.batch.batch_client import parts
from tests.web.batch.operations import DESCRIPTORS, enrolment, school, student

PAGE = Path(__file__).parents[3] / "meadowlark/docs/use/batch.md"


def test_the_python_program_sends_json_lines_of_other_programs(batch, tmp_path, monkeypatch):
    batch.results([*DESCRIPTORS, school(1)])
    (program,) = re.findall(r"```python\n(.+?)```", PAGE.read_text(), re.DOTALL)
    files = {"students": [student(1), student(2)], "studentSchoolAssociations": [enrolment(1), enrolment(2)]}
    for name, operations in files.items():
        lines = [json.dumps(each["document"]) for each in operations]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    answers = []

    def post(url, data, headers):
        path = url.removeprefix("https://edfi.example.org")
        assert headers["Authorization"] == f"Bearer {batch.token}"
        answers.append(batch.send(data, path=path, content_type=headers["Content-Type"]))

    monkeypatch.setitem(sys.modules, "requests", SimpleNamespace(post=post))
    exec(program, {"token": batch.token})  # noqa: S102

    (summary,) = parts(answers[0])
    assert summary["summary"]["byStatus"] == {"201": 4}
    assert Document.objects.filter(resource_type__name="StudentSchoolAssociation").count() == 2
