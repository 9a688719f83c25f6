"""The files of meadowlark/docs/ → guides by their addresses, in the order of the list of pages.

Links to other pages and pictures of the same folder of pages become addresses below `BASE`, which stands for the
address of the guides; those to files outside it are shown as text, since a server need not have these files.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

# What pages lead to in addition to other pages, with its media types.
FILES = {".png": "image/png", ".ipynb": "application/x-ipynb+json"}
_LIST = "README.md"
# A section of the list of pages, and a row of its table.
_SECTION = re.compile(r"^## (?P<title>[^:\n]+)", re.MULTILINE)
_ROW = re.compile(r"^\| \[(?P<title>[^\]]+)\]\((?P<path>[\w/-]+\.md)\) \| (?P<contents>.+) \|$", re.MULTILINE)

# No text contains it in quotation marks, which are escaped there.
BASE = '"@guides'
_ELSEWHERE = re.compile(r"[a-z]+:|//", re.IGNORECASE)
_NOT_IN_A_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page, with the fragment of its address."""

    level: int
    slug: str
    text: str


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page as HTML. `title` is that of its first heading."""

    title: str
    html: str
    headings: tuple[Heading, ...]


def rendered(text: str, folder: str, files: frozenset[str], prefix: str = "") -> RenderedPage:
    """The page with this Markdown, which is in `folder`; `files` are all files by their paths. Slugs of headings are
    those of GitHub, after `prefix`."""
    tokens = _MARKDOWN.parse(text)
    headings = tuple(_headings(tokens, prefix))
    for token in _all(tokens):
        if token.type in ("link_open", "image"):
            _point_into_the_guides(token, folder, files)
        elif token.type in ("th_open", "td_open"):
            # An inline style, which the Content-Security-Policy refuses.
            token.attrs.pop("style", None)
    _drop_closed_links(tokens)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return RenderedPage(headings[0].text if headings else "", html, headings)


def _headings(tokens: Sequence[Token], prefix: str) -> Iterator[Heading]:
    """Yield the headings after giving them their ids; of equal ones the later have a number."""
    known: dict[str, int] = {}
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        text = "".join(each.content for each in inline.children or () if each.type in ("text", "code_inline"))
        slug = _NOT_IN_A_SLUG.sub("", text.lower()).replace(" ", "-")
        number = known[slug] = known.get(slug, -1) + 1
        opening.attrSet("id", f"{prefix}{slug}-{number}" if number else f"{prefix}{slug}")
        yield Heading(int(opening.tag[1]), str(opening.attrGet("id")), text)


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or ())


def _point_into_the_guides(token: Token, folder: str, files: frozenset[str]) -> None:
    name = "src" if token.type == "image" else "href"
    address = str(token.attrGet(name))
    if _ELSEWHERE.match(address) or address.startswith("#"):
        return
    path, _, fragment = address.partition("#")
    found = posixpath.normpath(posixpath.join(folder, path))
    if found not in files:
        token.attrs.pop(name, None)
        return
    page = f"/{found.removesuffix('.md')}".removesuffix("/README")
    token.attrSet(name, f"{BASE[1:]}{page}{f'#{fragment}' if fragment else ''}")


def _drop_closed_links(tokens: Sequence[Token]) -> None:
    """Links without an address become text."""
    for token in tokens:
        depth: list[bool] = []
        for child in token.children or ():
            if child.type == "link_open":
                depth.append("href" in child.attrs)
                child.tag = "a" if depth[-1] else "span"
            elif child.type == "link_close":
                child.tag = "a" if depth.pop() else "span"


class _Renderer(RendererHTML):
    """Renders what is wide so that it can be scrolled by the keyboard."""

    def table_open(self, *_: object) -> str:
        return '<div class="wide" role="region" aria-label="Table" tabindex="0"><table>\n'

    def table_close(self, *_: object) -> str:
        return "</table></div>\n"

    def fence(self, tokens: Sequence[Token], idx: int, *rest: object) -> str:
        return super().fence(tokens, idx, *rest).replace("<pre>", '<pre tabindex="0">', 1)  # type: ignore[arg-type]


_MARKDOWN = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")


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
        """The page at this address, the list of pages at the empty one; None if there is none."""
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
    return Guides(Path(__file__).parents[2] / "meadowlark" / "docs")


def at(root: str, html: str) -> str:
    """HTML with the addresses of the guides at this root."""
    return html.replace(BASE, f'"{root}')


def _address(path: str) -> str:
    """The path without its suffix; of the list of a folder, the folder."""
    return path.removesuffix(".md").removesuffix("README").rstrip("/")


def _guides(text: str) -> Iterator[Guide]:
    for row in _ROW.finditer(text):
        yield Guide(_address(row["path"]), row["title"], row["contents"].replace("`", ""))
