"""Small interchange documents as text; each starts on a new line."""

ED_FI = "uri://ed-fi.org"


def interchange(*documents: str, kind: str = "Student") -> str:
    """A complete file; the first document starts on line 3."""
    root = f"Interchange{kind}"
    body = "\n".join(documents)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="http://ed-fi.org/3.3.1-b">\n{body}\n</{root}>\n'


def descriptor(name: str, code_value: str) -> str:
    return (
        f"<{name}Descriptor><CodeValue>{code_value}</CodeValue><ShortDescription>{code_value}</ShortDescription>"
        f"<Namespace>{ED_FI}/{name}Descriptor</Namespace></{name}Descriptor>"
    )


def uri(name: str, code_value: str) -> str:
    return f"{ED_FI}/{name}Descriptor#{code_value}"


SCHOOL_DESCRIPTORS = descriptor("EducationOrganizationCategory", "School") + descriptor("GradeLevel", "Ninth grade")


def school(school_id: int, *more: str, attributes: str = "") -> str:
    category = uri("EducationOrganizationCategory", "School")
    return (
        f"<School {attributes}><NameOfInstitution>School {school_id}</NameOfInstitution>"
        f"<EducationOrganizationCategory>{category}</EducationOrganizationCategory>"
        f"{''.join(more)}<SchoolId>{school_id}</SchoolId>"
        f"<GradeLevel>{uri('GradeLevel', 'Ninth grade')}</GradeLevel></School>"
    )


def school_reference(school_id: int) -> str:
    return f"<SchoolReference><SchoolIdentity><SchoolId>{school_id}</SchoolId></SchoolIdentity></SchoolReference>"


def location(room: str, school_part: str, attributes: str = "") -> str:
    return (
        f"<Location {attributes}>{school_part}"
        f"<ClassroomIdentificationCode>{room}</ClassroomIdentificationCode></Location>"
    )


def student(unique_id: str, *more: str, birth_date: str = "2010-05-01") -> str:
    return (
        f"<Student><StudentUniqueId>{unique_id}</StudentUniqueId>"
        f"<Name><FirstName>Ada</FirstName><LastSurname>{unique_id}</LastSurname></Name>{''.join(more)}"
        f"<BirthData><BirthDate>{birth_date}</BirthDate></BirthData></Student>"
    )
