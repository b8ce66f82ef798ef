import dataclasses

import numpy as np
import pytest

from telerobot_nodes.core.protocol import MotionWindow
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.loop import ControlOutput
from telerobot_nodes.motion.loop import control_records as records

DOF = 6


def a_window(count=5, gripper=True):
    rng = np.random.default_rng(0)
    rows = (rng.standard_normal((count, DOF)) for _ in range(3))
    opening = rng.random(count) if gripper else np.empty(0)
    return MotionWindow(9, 1.5, 1.4, 0.02, *rows, rng.random(count), opening)


@pytest.mark.parametrize("gripper", [True, False])
@pytest.mark.parametrize("count", [1, 5, records.WINDOW_SAMPLES])
def test_a_window_survives_the_record_also_after_a_longer_one(count, gripper):
    record = np.zeros((), records.window_dtype(DOF))
    records.pack_window(a_window(records.WINDOW_SAMPLES), record)
    window = a_window(count, gripper)
    records.pack_window(window, record)
    back = records.unpack_window(record)
    for entry in dataclasses.fields(MotionWindow):
        assert np.array_equal(getattr(back, entry.name), getattr(window, entry.name)), entry.name


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"velocity": np.zeros((4, DOF))}, r"window\.velocity"),
        ({"acceleration": np.zeros((5, DOF + 1))}, r"window\.acceleration"),
        ({"plan_time": np.zeros(4)}, r"window\.plan_time"),
        ({"gripper": np.zeros(3)}, r"window\.gripper"),
    ],
)
def test_a_window_of_inconsistent_lengths_is_rejected_by_field(change, field):
    record = np.zeros((), records.window_dtype(DOF))
    with pytest.raises(InvalidValueError, match=field):
        records.pack_window(dataclasses.replace(a_window(), **change), record)


def test_a_window_that_is_too_long_is_rejected():
    record = np.zeros((), records.window_dtype(DOF))
    with pytest.raises(InvalidValueError, match="samples"):
        records.pack_window(a_window(records.WINDOW_SAMPLES + 1), record)


def test_texts_survive_and_long_ones_are_cut_even_inside_a_letter():
    output = ControlOutput(DOF)
    output.record["reason"] = records.encoded("joint 3: too far — µ")
    assert output.reason == "joint 3: too far — µ"
    output.record["reason"] = records.encoded("é" * records.REASON_BYTES)
    assert output.reason == "é" * (records.REASON_BYTES // 2)
    assert records.encoded("") == b""


def test_arrays_of_an_output_are_views_of_its_record():
    output = ControlOutput(DOF)
    output.q[:] = np.arange(DOF)
    output.record["halt_count"] = 4
    copy = ControlOutput(DOF, output.record)
    assert np.array_equal(copy.q, np.arange(DOF))
    assert copy.halt_count == 4
