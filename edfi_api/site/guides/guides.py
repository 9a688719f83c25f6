"""The files of meadowlark/docs/ → guides by their addresses, in the order of the list of pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from edfi_api.site.guides.markdown import BASE, RenderedPage, rendered

# What pages lead to beside other pages, with its media types.
FILES = {".png": "image/png", ".ipynb": "application/x-ipynb+json"}
_LIST = "README.md"
# A section of the list of pages, and a row of its table.
_SECTION = re.compile(r"^## (?P<title>[^:\n]+)", re.MULTILINE)
_ROW = re.compile(r"^\| \[(?P<title>[^\]]+)\]\((?P<path>[\w/-]+\.md)\) \| (?P<contents>.+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Guide:
    """A page in the list: its address below that of the guides, its title, and what it is about."""

    address: str
    title: str
    contents: str


@dataclass(frozen=True, slots=True)
class Section:
    """The guides for one reader."""

    title: str
    guides: tuple[Guide, ...]


class Guides:
    """All pages, pictures and notebooks below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = frozenset(
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in (".md", *FILES)
        )
        self._pages = {_address(path): path for path in self._files if path.endswith(".md")}
        self._rendered: dict[str, RenderedPage] = {}

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Return the sections as the list of pages has them."""
        _, *parts = _SECTION.split((self._folder / _LIST).read_text())
        titles, texts = parts[::2], parts[1::2]
        return tuple(Section(title, tuple(_guides(text))) for title, text in zip(titles, texts, strict=True))

    def page(self, address: str) -> RenderedPage | None:
        """The page at this address, the list of pages at the empty one; None if there is none. Rendered at the first
        call."""
        path = self._pages.get(address)
        if path is None:
            return None
        if address not in self._rendered:
            self._rendered[address] = self._rendering(path)
        return self._rendered[address]

    @cached_property
    def together(self) -> tuple[tuple[Guide, RenderedPage], ...]:
        """All guides of the list for one page, on which a browser finds every word. Fragments begin with addresses."""
        return tuple(
            (guide, self._rendering(self._pages[guide.address], f"{guide.address.replace('/', '-')}-"))
            for section in self.sections
            for guide in section.guides
        )

    def file(self, path: str) -> Path | None:
        """A picture or a notebook; None if there is none."""
        return self._folder / path if path in self._files and path.endswith(tuple(FILES)) else None

    def _rendering(self, path: str, prefix: str = "") -> RenderedPage:
        folder, _, _ = path.rpartition("/")
        return rendered((self._folder / path).read_text(), folder, self._files, prefix)


@cache
def guides() -> Guides:
    """Return the guides of this server."""
    return Guides(Path(__file__).parents[3] / "meadowlark" / "docs")


def at(root: str, html: str) -> str:
    """HTML with the addresses of the guides at this root."""
    return html.replace(BASE, f'"{root}')


def _address(path: str) -> str:
    """The path without its suffix; of the list of a folder, the folder."""
    return path.removesuffix(".md").removesuffix("README").rstrip("/")


def _guides(text: str) -> Iterator[Guide]:
    for row in _ROW.finditer(text):
        yield Guide(_address(row["path"]), row["title"], row["contents"].replace("`", ""))
