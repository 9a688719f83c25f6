"""The manifests of docker/kubernetes: valid by the schemas of Kubernetes, without privileges, without secrets."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands
from django.urls import resolve

from edfi_api.common.settings_table import SETTINGS
from tests.whole.docker.kubernetes_schemas import VERSIONS, faults

MANIFESTS = Path(__file__).parents[3] / "docker/kubernetes/meadowlark.yaml"
ITEMS: list[dict[str, Any]] = yaml.safe_load(MANIFESTS.read_text())["items"]


def named(kind: str, name: str = "meadowlark") -> dict[str, Any]:
    [found] = [item for item in ITEMS if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    return found


def pods() -> Iterator[dict[str, Any]]:
    """The specification of each."""
    for item in ITEMS:
        if "jobTemplate" in item.get("spec", {}):
            yield item["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        elif "template" in item.get("spec", {}):
            yield item["spec"]["template"]["spec"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item['kind']}/{item['metadata']['name']}")
def test_each_manifest_is_valid(item: dict[str, Any], version: str) -> None:
    assert faults(item, version) == []


def test_a_misspelt_member_would_be_found() -> None:
    wrong = copy.deepcopy(named("Deployment"))
    wrong["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}

    [fault] = faults(wrong, VERSIONS[-1])

    assert "livenesProbe" in fault


def test_every_pod_has_the_least_privileges() -> None:
    found = list(pods())

    assert len(found) == 4
    for pod in found:
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "runAsGroup": 10001,
            "fsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert [container["securityContext"] for container in pod["containers"]] == [
            {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
        ]
        assert all(volume.keys() == {"name", "emptyDir"} for volume in pod["volumes"])
        assert "memory" in pod["containers"][0]["resources"]["limits"]


def test_secrets_are_references() -> None:
    assert {item["kind"] for item in ITEMS}.isdisjoint({"Secret"})
    for pod in pods():
        [container] = pod["containers"]
        assert "env" not in container
        assert container["envFrom"] == [
            {"configMapRef": {"name": "meadowlark"}},
            {"secretRef": {"name": "meadowlark"}},
        ]
    assert named("ConfigMap")["data"].keys().isdisjoint({"DATABASE_URL", "MEADOWLARK_SECRET_KEY"})


def test_the_settings_exist() -> None:
    assert named("ConfigMap")["data"].keys() <= {setting.variable for setting in SETTINGS.values()}


def test_the_probes_and_commands_exist() -> None:
    [server] = named("Deployment")["spec"]["template"]["spec"]["containers"]
    paths = {kind: server[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
    commands = [pod["containers"][0]["command"] for pod in pods()]

    assert paths == {"startup": "/health/live", "liveness": "/health/live", "readiness": "/health/ready"}
    assert all(resolve(path) for path in paths.values())
    managed = [command[2] for command in commands if command[:2] == ["python", "manage.py"]]
    assert managed == ["housekeeping", "verify_integrity"]
    assert set(managed) <= get_commands().keys()


def test_the_service_leads_to_the_servers_only() -> None:
    selector = named("Service")["spec"]["selector"]
    labels = [
        item["spec"].get("jobTemplate", item)["spec"]["template"]["metadata"]["labels"]
        for item in ITEMS
        if item["kind"] in ("Job", "CronJob", "Deployment")
    ]

    assert selector == {"app.kubernetes.io/name": "meadowlark", "app.kubernetes.io/component": "server"}
    assert labels.count(selector) == 1
