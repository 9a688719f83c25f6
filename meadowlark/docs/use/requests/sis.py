"""A student information system: sends students and their enrollments, some of them wrong on purpose.

python sis.py ADDRESS KEY SECRET [STUDENTS [MISTAKES]]
"""

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from edfi import EdFi, say

SCHOOL = 770_000_004
GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"


def send_part(arguments: list[str], numbers: range, mistakes: int) -> Counter[int]:
    """Send the students of these numbers on a connection of its own; the first enrollments name
    students whom no one has sent."""
    api, statuses = EdFi(*arguments), Counter[int]()
    for number in numbers:
        student = f"sis-{number}"
        body = {"studentUniqueId": student, "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
        statuses[api.send("POST", "/data/ed-fi/students", body).status] += 1
        enrollment = {
            "studentReference": {"studentUniqueId": f"nobody-{number}" if number < mistakes else student},
            "schoolReference": {"schoolId": SCHOOL},
            "entryDate": "2025-08-20",
            "entryGradeLevelDescriptor": GRADE,
        }
        answer = api.send("POST", "/data/ed-fi/studentSchoolAssociations", enrollment)
        statuses[answer.status] += 1
        if number == 0 and answer.status >= 400:
            say("for example:", *answer.body["hints"])
    return statuses


def main(address: str, key: str, secret: str, students: str = "10", mistakes: str = "1") -> None:
    """Send everything on four connections, and say what was answered."""
    arguments, number = [address, key, secret], int(students)
    with ThreadPoolExecutor(4) as pool:
        parts = [range(first, number, 4) for first in range(4)]
        sent = [pool.submit(send_part, arguments, part, int(mistakes)) for part in parts]
        statuses = sum((each.result() for each in sent), Counter[int]())
    say("answers by status:", dict(sorted(statuses.items())))


if __name__ == "__main__":
    main(*sys.argv[1:])
