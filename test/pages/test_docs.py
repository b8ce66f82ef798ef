"""The hand-written pages: links lead somewhere, and files they name exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted(ROOT.glob("*.md")), *sorted((ROOT / "config").rglob("*.md"))]
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"`(?:\.\./)*([\w./-]+\.(?:py|yaml|lark|csv|msg|srv|action|xml|toml|cfg))(?::\w+)?`")
CODE = re.compile(r"```.*?```", re.DOTALL)
EXAMPLES = {"NAME.py", "FILE.yaml", "FILE.csv"}  # stand for a file of the reader
NAMES = {
    file.name
    for folder in ("telerobot_nodes", "test", "examples", "launch", "config", "msg", "srv", "action", ".ci")
    for file in (ROOT / folder).rglob("*")
} | {file.name for file in ROOT.iterdir()}


def prose(page):
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """Anchors that renderers make of the headings of `page`."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page):
    for target in LINK.findall(prose(page)):
        name, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield target


def missing_files(page):
    for name in FILE.findall(prose(page)):
        bases = (ROOT, ROOT / "telerobot_nodes", page.parent, page.parents[1])
        known = "/" not in name and name in NAMES | EXAMPLES
        if not known and "NAME" not in name and not any((base / name).exists() for base in bases):
            yield name


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_link_inside_the_project_leads_somewhere(page):
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_file_that_a_page_names_exists(page):
    assert list(missing_files(page)) == []


def test_every_file_that_a_docstring_or_comment_names_exists():
    modules = sorted((ROOT / "telerobot_nodes").rglob("*.py"))
    missing = {str(module.relative_to(ROOT)): list(missing_files(module)) for module in modules}
    assert {module: names for module, names in missing.items() if names} == {}


def test_the_index_leads_to_every_page():
    linked = {target.partition("#")[0] for target in LINK.findall(prose(DOCS / "index.md"))}
    assert {page.name for page in DOCS.glob("*.md")} - linked == {"index.md"}


def test_the_site_s_navigation_leads_to_every_page_once():
    pages = re.findall(r"^ +- .+: (\w+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(pages) == sorted(page.name for page in DOCS.glob("*.md"))


def test_a_broken_link_and_a_missing_file_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One title\n[a](#one-title) [b](#two) [c](no.md) `no/such.py` `conftest.py`\n")
    assert list(broken_links(page)) == ["#two", "no.md"]
    assert list(missing_files(page)) == ["no/such.py"]
