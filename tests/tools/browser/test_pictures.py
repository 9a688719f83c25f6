"""The tour shows exactly the pictures of `make pictures`."""

import re
from pathlib import Path

from tests.tools.browser.pictures import FOLDER, PICTURES

TOUR = Path(__file__).parents[3] / "meadowlark/docs/start/tour.md"


def test_the_tour_shows_each_picture_and_describes_it() -> None:
    shown = re.findall(r"!\[(.+)\]\((.+)\)", TOUR.read_text())

    assert [path for _, path in shown] == [f"pictures/{name}.png" for name in PICTURES]
    assert all(len(text) > 10 for text, _ in shown)


def test_each_picture_exists_and_is_small() -> None:
    found = {path.name: path for path in Path(FOLDER).iterdir()}

    assert set(found) == {f"{name}.png" for name in PICTURES}
    for path in found.values():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size < 250_000
