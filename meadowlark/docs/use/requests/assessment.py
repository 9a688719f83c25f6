"""An assessment vendor: reads the students of others, and writes a result for each.

python assessment.py ADDRESS KEY SECRET
"""

import sys
from collections import Counter

from edfi import EdFi, say

NAMESPACE = "uri://ed-fi.org/Assessment/Example"
SUBJECT = "uri://ed-fi.org/AcademicSubjectDescriptor#Mathematics"
KEY = {"assessmentIdentifier": "math-screening", "namespace": NAMESPACE}


def main(address: str, key: str, secret: str) -> None:
    """Write the assessment and the results; one of a student whom no one has written."""
    api, statuses = EdFi(address, key, secret), Counter[int]()
    subjects = [{"academicSubjectDescriptor": SUBJECT}]
    assessment = {**KEY, "assessmentTitle": "Screening in mathematics", "academicSubjects": subjects}
    statuses[api.send("POST", "/data/ed-fi/assessments", assessment).status] += 1
    students = [each["studentUniqueId"] for each in api.pages("/data/ed-fi/students")]
    for student in [*students, "nobody"]:
        result = {
            "studentAssessmentIdentifier": f"math-screening-{student}",
            "assessmentReference": KEY,
            "studentReference": {"studentUniqueId": student},
            "administrationDate": "2025-10-01T09:00:00Z",
        }
        answer = api.send("POST", "/data/ed-fi/studentAssessments", result)
        statuses[answer.status] += 1
        if answer.status >= 400:
            say(student, answer.status, *answer.body["hints"])
    say("students:", len(students), "answers by status:", dict(sorted(statuses.items())))


if __name__ == "__main__":
    main(*sys.argv[1:])
