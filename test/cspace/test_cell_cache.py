"""Files of cells: read once, written when there are more, made anew when unusable, notes instead of errors."""

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import sphere
from telerobot_nodes.cspace.search import CellCache, CellDatabase


@pytest.fixture
def cells(planar):
    made = CellDatabase(planar, [sphere("ball", 0.15, (0.6, 0.3, 0.0))])
    made.refine(np.array([0.3, 0.3]), 0.2)
    return made


def fresh(planar):
    return CellDatabase(planar, [sphere("ball", 0.15, (0.6, 0.3, 0.0))])


def test_cells_written_by_one_process_are_read_by_the_next(planar, cells, tmp_path):
    CellCache(tmp_path / "state").keep("left", cells)
    again, cache = fresh(planar), CellCache(tmp_path / "state")
    cache.fill("left", again)
    assert again.status == cells.status
    assert cache.notes["left"].startswith(f"{len(cells)} cells read")


def test_without_a_folder_nothing_is_written(cells):
    cache = CellCache(None)
    cache.keep("left", cells)
    assert cache.file("left") is None


def test_the_name_of_an_arm_cannot_leave_the_folder(tmp_path):
    assert CellCache(tmp_path).file("../left arm").parent == tmp_path


def test_a_file_is_written_again_only_when_there_are_more_cells(cells, tmp_path):
    cache = CellCache(tmp_path)
    cache.keep("left", cells)
    cache.file("left").unlink()
    cache.keep("left", cells)
    assert not cache.file("left").exists()
    cells.refine(np.array([-0.4, 0.9]), 0.05)
    cache.keep("left", cells)
    assert cache.file("left").exists()


@pytest.mark.parametrize("content", [b"", b"not cells", b"x" * 500])
def test_a_file_that_is_no_use_is_noted_and_the_cells_start_anew(planar, tmp_path, content):
    cache, again = CellCache(tmp_path), fresh(planar)
    cache.file("left").write_bytes(content)
    cache.fill("left", again)
    assert "made anew" in cache.notes["left"]
    assert len(again) == 1


def test_a_folder_that_cannot_be_written_is_noted(cells, tmp_path):
    (tmp_path / "file").write_text("")
    cache = CellCache(tmp_path / "file")
    cache.keep("left", cells)
    assert "not written" in cache.notes["left"]
