"""A small tree of resource claims, and grants over it."""

TREE = {
    "name": "domains/top",
    "defaults": {"Create": ["Top"], "Read": ["Top"]},
    "children": [
        {
            "name": "domains/middle",
            "defaults": {"Read": ["Middle"]},
            "children": [{"name": "ed-fi/student", "defaults": {"Delete": ["Leaf"]}}, "ed-fi/staff"],
        },
        "ed-fi/school",
    ],
}


def grant(claim: str, *actions: str, strategies: object = ()) -> dict[str, object]:
    """A grant as in a file of claim sets."""
    return {"claims": [claim], "actions": actions, "strategies": strategies or {}}
