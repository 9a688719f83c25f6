"""A small table → a picture in SVG: bars or lines, with texts that are escaped."""

from collections.abc import Mapping, Sequence
from typing import Literal
from xml.etree import ElementTree

from edfi_api.features.questions.exceptions import Refused

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 800, 400, 70, 60, 90
_MOST_LABELS, _MOST_SERIES, _LONGEST_LABEL = 50, 6, 24
# Okabe and Ito's colours, which people with colour vision deficiency tell apart.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9")


def plot(title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], kind: Literal["bar", "line"]) -> str:
    """Return the picture of one value of each series for each label. Raises Refused for a table that does not fit."""
    if not labels or not series or any(len(values) != len(labels) for values in series.values()):
        raise Refused("A plot has labels, and of each series one number for each label.")
    if len(labels) > _MOST_LABELS or len(series) > _MOST_SERIES:
        raise Refused(f"A plot has at most {_MOST_LABELS} labels and {_MOST_SERIES} series; group or leave out some.")
    least = min(0.0, *(min(values) for values in series.values()))
    most = max(0.0, *(max(values) for values in series.values())) or 1.0
    root = ElementTree.Element(
        "svg", {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "role": "img",
                "font-family": "sans-serif", "font-size": "12"}
    )  # fmt: skip
    _text(root, "title", title)
    ElementTree.SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    _text(root, "text", title, x=_LEFT, y=22, **{"font-size": "16"})
    step = (_WIDTH - _LEFT - 20) / len(labels)

    def height(value: float) -> float:
        return round(_TOP + (most - value) / (most - least) * (_HEIGHT - _TOP - _BOTTOM), 1)

    for value in sorted({least, (least + most) / 2, most}):
        line = {"x1": str(_LEFT), "x2": str(_WIDTH - 20), "y1": str(height(value)), "y2": str(height(value))}
        ElementTree.SubElement(root, "line", line | {"stroke": "#cccccc"})
        _text(root, "text", f"{value:,.6g}", x=_LEFT - 6, y=height(value) + 4, **{"text-anchor": "end"})
    for number, label in enumerate(labels):
        x, y = round(_LEFT + (number + 0.5) * step, 1), _HEIGHT - _BOTTOM + 16
        _text(root, "text", _short(label), x=x, y=y, transform=f"rotate(35 {x} {y})")
    for number, (name, values) in enumerate(series.items()):
        colour = _COLOURS[number]
        ElementTree.SubElement(
            root, "rect", {"x": str(_LEFT + 120 * number), "y": "32", "width": "10", "height": "10", "fill": colour}
        )
        _text(root, "text", _short(name, 14), x=_LEFT + 14 + 120 * number, y=41)
        if kind == "line":
            points = " ".join(
                f"{round(_LEFT + (at + 0.5) * step, 1)},{height(value)}" for at, value in enumerate(values)
            )
            ElementTree.SubElement(root, "polyline", {"points": points, "fill": "none", "stroke": colour})
            continue
        width = 0.8 * step / len(series)
        for at, value in enumerate(values):
            top, bottom = min(height(value), height(0)), max(height(value), height(0))
            bar = {"x": f"{_LEFT + (at + 0.1) * step + number * width:.1f}", "y": str(top), "width": f"{width:.1f}"}
            ElementTree.SubElement(root, "rect", bar | {"height": f"{bottom - top:.1f}", "fill": colour})
    return ElementTree.tostring(root, encoding="unicode")


def _text(parent: ElementTree.Element, tag: str, text: str, **attributes: object) -> None:
    element = ElementTree.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})
    element.text = "".join(character for character in text if character.isprintable())


def _short(text: str, longest: int = _LONGEST_LABEL) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
