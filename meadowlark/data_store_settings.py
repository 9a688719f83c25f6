"""The settings of tenants and data stores."""

from typing import Any

from meadowlark.environment import Environment


def data_store_settings(env: Environment, *, threads: int, lasting_key: str) -> dict[str, Any]:
    """Entries of EDFI_API. `lasting_key` encrypts connection strings unless there is a key for them alone."""
    return {
        "MULTI_TENANCY": env.bool(
            "MEADOWLARK_MULTI_TENANCY",
            default=False,
            meaning="the first path segment is the name of a tenant: `/lakeside/data/ed-fi/students`",
        ),
        "ROUTE_QUALIFIERS": env.qualifiers(
            "MEADOWLARK_ROUTE_QUALIFIERS",
            meaning="path segments that choose a data store, in their order: `districtId,schoolYear`",
        ),
        "MAIN_STORE": env.bool(
            "MEADOWLARK_MAIN_STORE",
            default=True,
            meaning="clients without any data store use the control database; only without route qualifiers and "
            "tenants",
        ),
        "STORE_SECONDS": env.int(
            "MEADOWLARK_STORE_SECONDS",
            default=10,
            meaning="within how many seconds data stores that were added, changed or removed are noticed",
        ),
        "MIGRATE_STORES": env.bool(
            "MEADOWLARK_MIGRATE_STORES",
            default=False,
            meaning="a container that starts migrates the data stores too, not only its control database",
        ),
        "STORE_SHARE": env.part(
            "MEADOWLARK_STORE_SHARE",
            default=0.5,
            meaning="the part of a process's threads that may wait for one slow data store",
        ),
        "STORE_CONNECTIONS": env.int(
            "MEADOWLARK_STORE_CONNECTIONS",
            default=4 * threads,
            shown="4 times `MEADOWLARK_THREADS`",
            meaning="connections to data stores that a process keeps",
        ),
        "STORE_METRICS": env.bool(
            "MEADOWLARK_STORE_METRICS", default=True, meaning="metrics of each data store, by its id"
        ),
        "STORE_KEYS": tuple(
            env.list(
                "MEADOWLARK_STORE_KEY",
                default=[lasting_key] if lasting_key else [],
                shown="`MEADOWLARK_SECRET_KEY`",
                meaning="encrypts connection strings of data stores; of several, separated by commas, the first one "
                "encrypts and all decrypt",
            )
        ),
        "STORE_HOSTS": tuple(
            env.list(
                "MEADOWLARK_STORE_HOSTS",
                default=[],
                shown="none",
                meaning="host names and networks that connection strings of data stores may lead to, besides the "
                "server of the control database; `*` for any",
            )
        ),
    }
