"""JSON schemas of the kinds in docker/kubernetes, by version of Kubernetes; unknown members are errors.

They are in `kubernetes/`, from the OpenAPI documents of Kubernetes (Apache License 2.0). For another kind or version:

    pip install --target FOLDER kubernetes-validate
    python -m tests.whole.docker.kubernetes_schemas FOLDER/kubernetes_validate/kubernetes-json-schema
"""

import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

# The oldest and the newest that are in use.
VERSIONS = ("1.32", "1.37")
KINDS = (
    "apps.v1.Deployment",
    "batch.v1.CronJob",
    "batch.v1.Job",
    "core.v1.ConfigMap",
    "core.v1.Service",
    "core.v1.ServiceAccount",
    "policy.v1.PodDisruptionBudget",
)
_FOLDER = Path(__file__).parent / "kubernetes"
_PREFIX = "io.k8s.api."


def faults(item: Mapping[str, Any], version: str) -> list[str]:
    """What is wrong with a manifest."""
    group, _, number = item["apiVersion"].rpartition("/")
    kind = f"{group or 'core'}.{number}.{item['kind']}"
    validator = jsonschema_rs.validator_for({"$ref": f"#/$defs/{_PREFIX}{kind}", "$defs": _definitions(version)})
    return [f"{'/'.join(map(str, error.instance_path))}: {error.message}" for error in validator.iter_errors(item)]


@cache
def _definitions(version: str) -> dict[str, Any]:
    return json.loads((_FOLDER / f"{version}.json").read_text())


def main(source: Path) -> None:
    """Write the definitions that the kinds need, one in a line, without descriptions."""
    for version in VERSIONS:
        known = json.loads((source / f"v{version}.0-local-strict" / "_definitions.json").read_text())["$defs"]
        needed: dict[str, Any] = {}
        remaining = {_PREFIX + kind for kind in KINDS}
        while remaining:
            name = remaining.pop()
            needed[name] = _without_descriptions(known[name])
            remaining |= set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(needed[name]))) - needed.keys()
        lines = (f"{json.dumps(name)}: {json.dumps(needed[name])}" for name in sorted(needed))
        (_FOLDER / f"{version}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _without_descriptions(part: Any) -> Any:
    if isinstance(part, list):
        return [_without_descriptions(each) for each in part]
    if not isinstance(part, dict):
        return part
    # A text, unlike the schema of a member of this name.
    is_described = isinstance(part.get("description"), str)
    return {
        name: _without_descriptions(value)
        for name, value in part.items()
        if not (is_described and name == "description")
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
