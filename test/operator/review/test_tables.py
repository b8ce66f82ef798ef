"""Every table of a run as CSV: what the messages said, in units."""

import csv

import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.review import review_bag, write_tables


def read(file):
    with file.open(newline="") as stream:
        return list(csv.reader(stream))


@pytest.mark.lengthy
def test_every_table_of_a_run_is_written_with_its_units(make_run, tmp_path):
    found = review_bag(make_run())
    files = {file.stem: read(file) for file in write_tables(found, tmp_path / "csv")}
    assert len(files["plan"]) == 1 + found.summary.points_planned
    assert files["plan"][0] == ["time [s]", "point", "plan time [s]", "x [m]", "y [m]", "z [m]"]
    assert files["joints"][0][:2] == ["time [s]", f"{found.run.joint_names[0]} [rad]"]
    first = found.run.joints.array("position")[0]
    assert [float(cell) for cell in files["joints"][1][1:]] == pytest.approx(first.tolist())
    assert [row[3] for row in files["events"][1:]] == [event.text for event in found.run.events]
    assert {row[1] for row in files["controls"][1:]} == {"False"}  # the time clutch is disengaged
    assert files["controls"][0][3:7] == ["orientation clutch", "time ratio", "linear scale", "angular scale"]
    assert {row[5] for row in files["controls"][1:]} == {"1.0", "0.5"}
    assert max(float(row[4]) for row in files["tool"][1:]) == pytest.approx(found.summary.max_error_m)


@pytest.mark.lengthy
def test_a_folder_that_cannot_be_made_is_refused_by_name(make_run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidValueError, match=r"csv.*file"):
        write_tables(review_bag(make_run()), tmp_path / "file")
