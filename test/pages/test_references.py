"""Citation keys in code and documentation against docs/references.md."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "references.md"
KEY = re.compile(r"US\d{7}|JPL-RTC|GCMSF|[A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?")
BRACKETS = re.compile(r"\[([^\[\]]+)\]")
SUFFIXES = {".py", ".md", ".lark", ".yaml", ".msg", ".srv", ".action", ".urdf", ".xacro"}
FOLDERS = ("telerobot_nodes", "docs", "config", "msg", "srv", "action", "urdf", "launch", "examples")


def keys_in(text):
    """Keys cited as `[KEY]`, `[KEY claim 2]` or `[KEY, KEY]`."""
    return {key for inside in BRACKETS.findall(text) for key in KEY.findall(inside)}


def rows():
    """Keys that have a row, in the order of the page."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [line.split("|")[1].strip() for line in lines if line.startswith("| ") and not line.startswith("| key")]


@cache
def cited():
    """Key -> files that cite it."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*")) if file.suffix in SUFFIXES]
    found = {}
    for file in [*files, *ROOT.glob("*.md")]:
        if file != PAGE:
            for key in keys_in(file.read_text(encoding="utf-8")):
                found.setdefault(key, []).append(str(file.relative_to(ROOT)))
    return found


def test_every_cited_key_has_a_row():
    assert {key: files for key, files in cited().items() if key not in rows()} == {}


@pytest.mark.lengthy
def test_every_row_is_cited():
    assert [key for key in rows() if key not in cited()] == []


def test_every_row_is_a_key_and_stands_once():
    assert [key for key in rows() if not KEY.fullmatch(key)] == []
    assert len(set(rows())) == len(rows())


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("[US5046022 claims 1(e), 2]", {"US5046022"}),
        ("[JPL-RTC section 4, GCMSF]", {"JPL-RTC", "GCMSF"}),
        ("[KuffnerLaValle2000]", {"KuffnerLaValle2000"}),
        ("US5046022 without brackets, `x[KEY]`", set()),
    ],
)
def test_keys_are_found_in_brackets_only(text, keys):
    assert keys_in(text) == keys
