"""A warehouse: reads every resource that has documents, and then what has changed since.

python warehouse.py ADDRESS KEY SECRET
"""

import sys

from edfi import EdFi, say


def main(address: str, key: str, secret: str) -> None:
    """Read everything up to a change version, then the window after it, with deletes."""
    api = EdFi(address, key, secret)
    newest = api.send("GET", "/changeQueries/v1/availableChangeVersions").body["newestChangeVersion"]
    # Descriptors come first, since the other resources refer to them.
    in_order = [each["resource"] for each in api.send("GET", "/metadata/dependencies").body]
    resources = [each for each in dict.fromkeys(in_order) if not each.endswith("Descriptors")]
    documents = 0
    for resource in resources:
        if found := sum(1 for _ in api.pages(f"/data{resource}")):
            say(resource, found)
            documents += found
    window = f"minChangeVersion={newest + 1}"
    changed = deleted = 0
    for resource in ("/ed-fi/students", "/ed-fi/studentSchoolAssociations"):
        changed += len(api.send("GET", f"/data{resource}?{window}&limit=500").body)
        deleted += len(api.send("GET", f"/data{resource}/deletes?{window}").body)
    say("documents:", documents, "changed since:", changed, "deleted since:", deleted)


if __name__ == "__main__":
    main(*sys.argv[1:])
