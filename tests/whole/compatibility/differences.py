"""What stays different from the answers of the ODS/API, by the name of the request, with the reason."""

_NO_500 = "no bug: what cannot be stored is refused with its path"
_JSON = "what other programs read in another way is ambiguous"
_CONDITIONS = "conditions hold as in RFC 9110: one that never holds protects nothing"
_ALSO_SERVED = "an address of the Data Management Service or of this server, served with every setting"
_CLAIMS = "claims have the names of the Data Management Service"

# Status or problem type.
OUTCOMES = {
    "no version": _ALSO_SERVED,
    "HEAD": "HEAD is answered as GET, without the body",
    "get student inm": _CONDITIONS,
    "trailing comma": _JSON,
    "comment": _JSON,
    "dup member": _JSON,
    "array null item": _NO_500,
    "nul": _NO_500,
    "put ifmatch ok": _CONDITIONS,
    "put ifmatch star": _CONDITIONS,
    "post inm star": _CONDITIONS,
    "use-snapshot": "there is no snapshot, which is said for an empty page, too",
    "d case": "descriptors that differ in case only are one",
    "d ns hash": "two descriptors would have one URI",
    "G ?gradeLevelDescriptorId=1": "numbers of rows of an ODS are not known here, and a filter is never ignored",
    "M /metadata/specifications": _ALSO_SERVED,
    "M /metadata/dependencies": _ALSO_SERVED,
    "M /docs": _ALSO_SERVED,
}

TEXTS = {
    "deletes limit bad": "one sentence before the errors of all parameters",
    "s school create": _CLAIMS,
    "s descr create": _CLAIMS,
    "s deletes": _CLAIMS,
    "s schoolYearTypes post": _CLAIMS,
}

DOCUMENTS = {
    "S ?firstName=": "a filter without a value finds what has none, since everything would be a surprise",
    "S ?birthDate=2010-01-02&birthDate=2010-01-03": "a student whose JSON was refused is not there",
}
