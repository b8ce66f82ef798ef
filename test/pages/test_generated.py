"""Every generated page in docs/ is what the code generates now."""

import subprocess
import sys

import pytest

from telerobot_nodes.pages.generated import PAGES, write_pages


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_current(root, name):
    assert (root / "docs" / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_a_page_that_is_current_is_not_written_again(tmp_path):
    assert {path.name for path in write_pages(tmp_path)} == set(PAGES)
    (tmp_path / "states.md").write_text("old")
    assert [path.name for path in write_pages(tmp_path)] == ["states.md"]


@pytest.mark.parametrize("name", PAGES)
def test_a_cell_of_a_table_holds_no_entity_that_is_shown_literally(name):
    assert "&#" not in PAGES[name]()


@pytest.mark.lengthy
def test_the_command_writes_into_the_folder_it_is_given(tmp_path):
    run = [sys.executable, "-m", "telerobot_nodes.pages", str(tmp_path)]
    subprocess.run(run, check=True, capture_output=True)
    assert (tmp_path / "graph.md").exists()
