"""A drawing as an SVG element inside a page: in the page's font and colours, light or dark.

matplotlib's file has an id for every piece, a style sheet for all elements, dates and a font of its own. Inside a page
these would meet those of other drawings, so they go, and what refers to something refers to names of this drawing.
"""

import re
import xml.etree.ElementTree as ET

import numpy as np

from widenet.plots.marks import ramp
from widenet.plots.style import RAMP, ROLES

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"


def _variables() -> dict[str, str]:
    """Every role, and blends of neighbours on the ramp for more ordered things than it has steps."""
    found = {colour: f"var(--{role})" for role, colour in ROLES.items()}
    for n in range(len(RAMP) + 1, 9):
        for place, colour in zip(np.linspace(1, len(RAMP), n), ramp(n), strict=True):
            below, share = int(place), place % 1
            if share:
                found[colour] = f"color-mix(in srgb, var(--w{below + 1}) {100 * share:.0f}%, var(--w{below}))"
    return found


VARIABLES = _variables()
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
FONT = re.compile(r"(?:(?P<slant>italic|oblique)\s+)?(?:(?P<weight>bold|\d{3})\s+)?(?P<size>[\d.]+)px\s")
NUMBER = re.compile(r"-?\d+\.\d{3,}")
ROUNDED = ("d", "x", "y", "width", "height", "points", "stroke-dasharray")
ATTRIBUTES = {
    *("fill", "fill-opacity", "fill-rule", "opacity", "stop-color", "stop-opacity", "image-rendering"),
    *("stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-dashoffset"),
    *("stroke-linecap", "stroke-linejoin", "stroke-miterlimit"),
    "text-anchor",
}
"""What a style says and an attribute can say as well."""


def page_svg(file: bytes, name: str, title: str) -> str:
    """The SVG element of a file that matplotlib wrote; `name` makes its ids its own, `title` is read aloud."""
    root = ET.fromstring(file)  # a file of our own making, without a DTD of other entities
    _drop(root)
    prefix = re.sub(r"[^A-Za-z0-9]+", "-", name)
    names = _referred(root)
    ids = {old: f"{prefix}-{number}" for number, old in enumerate(names, start=1)}
    for node in root.iter():
        node.tag = node.tag.removeprefix(SVG)
        _restyle(node, ids)
    _flatten(root)
    width, height = (float(root.attrib[side].removesuffix("pt")) * 96 / 72 for side in ("width", "height"))
    box = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib |= {
        "xmlns": SVG.strip("{}"),
        "class": "drawn",
        "role": "img",
        "aria-label": title,
        "viewBox": box,
        "width": f"{width:g}",
        "height": f"{height:g}",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
        "font-family": "inherit",
    }
    return ET.tostring(root, encoding="unicode")


def _drop(root: ET.Element) -> None:
    """Metadata, the style sheet for all elements, and the white page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style"):
                parent.remove(child)
            child.tail = None
        if len(parent):
            parent.text = None


def _referred(root: ET.Element) -> list[str]:
    """The ids that something refers to, in their order."""
    names: list[str] = []
    for node in root.iter():
        names += [value.removeprefix("#") for key, value in node.attrib.items() if key == f"{XLINK}href"]
        names += [name for value in node.attrib.values() for name in REFERENCE.findall(value)]
    return list(dict.fromkeys(name for name in names if not name.startswith("data:")))


def _restyle(node: ET.Element, ids: dict[str, str]) -> None:
    old, node.attrib = node.attrib, {}
    style = dict(part.strip().split(": ", 1) for part in old.pop("style", "").split(";") if part.strip())
    left = {}
    if node.tag == "text":  # a style, because a page may have rules for text, and they are stronger than attributes
        left = {"font-family": "inherit"}
    for key, value in style.items():
        font = FONT.match(value) if key == "font" else None
        if font is not None:
            left |= {"font-size": f"{font['size']}px"}
            left |= {"font-weight": font["weight"]} if font["weight"] else {}
            left |= {"font-style": font["slant"]} if font["slant"] else {}
        elif key == "font-family":
            continue  # the page's
        elif key in ATTRIBUTES and (node.tag != "text" or key == "text-anchor"):
            old[key] = value
        else:
            left[key] = value
    if left:
        old["style"] = "; ".join(f"{key}: {value}" for key, value in left.items())
    for key, value in old.items():
        if key == "id":
            if value in ids:
                node.set(key, ids[value])
            continue
        if key in (f"{XLINK}href", "href"):
            node.set("href", f"#{ids[value[1:]]}" if value.startswith("#") else value)
            continue
        if key == "transform" and value.startswith("rotate(-0 "):
            continue
        if key in ROUNDED:
            value = " ".join(value.split())
            value = NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value)
        value = REFERENCE.sub(lambda found: f"url(#{ids[found[1]]})", value)
        node.set(key, COLOUR.sub(lambda found: VARIABLES.get(found[0].lower(), found[0]), value))


def _flatten(parent: ET.Element) -> None:
    """Groups that say nothing give way to what they hold; pieces without a line and a ground are not seen."""
    kept = []
    for child in parent:
        _flatten(child)
        if child.tag in ("g", "defs") and len(child) == 0:
            continue
        unseen = child.get("fill") == "none" and child.get("stroke", "none") == "none" and "id" not in child.attrib
        if child.tag == "path" and unseen:
            continue
        kept += list(child) if child.tag == "g" and not child.attrib else [child]
    parent[:] = kept
