"""Fields cut from many messages equal those that the library decodes one by one."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader, by_length, columns
from telerobot_nodes.operator.recording.bags import message_types
from telerobot_nodes.operator.recording.columns import layout_of, usual

STORE = message_types()
JOINTS = "sensor_msgs/msg/JointState"
TIME = STORE.types["builtin_interfaces/msg/Time"]
HEADER = STORE.types["std_msgs/msg/Header"]


def joints(frame, names, position):
    none = np.zeros(0)
    header = HEADER(stamp=TIME(sec=3, nanosec=7), frame_id=frame)
    message = STORE.types[JOINTS](header=header, name=names, position=np.array(position), velocity=none, effort=none)
    return bytes(STORE.serialize_cdr(message, JOINTS))


def field_of(message, path):
    for name, index in re.findall(r"(\w+)(?:\[(\d+)\])?", path):
        message = getattr(message, name)
        message = message[int(index)] if index else message
    return message


NUMBERS = st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2)
TEXTS = st.text("abcdé", max_size=9)


@settings(max_examples=30)
@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3), NUMBERS), min_size=1, max_size=6))
def test_columns_are_what_the_library_decodes_whatever_the_lengths_of_texts(rows):
    messages = [joints(*row) for row in rows]
    found = columns(STORE, JOINTS, by_length(messages), ["header.stamp.nanosec", "header.frame_id", "position"])
    assert found["header.frame_id"].tolist() == [frame for frame, _, _ in rows]
    assert found["header.stamp.nanosec"].tolist() == [7] * len(rows)
    np.testing.assert_array_equal(found["position"], [position for _, _, position in rows])


@pytest.mark.lengthy
def test_every_field_of_every_topic_of_a_run_is_at_its_place(make_run):
    with BagReader(make_run()) as bag:
        for topic in (name for name, count in bag.counts.items() if count):
            _, data = next(bag.each(topic))
            message = bag.decode(topic, data)
            names = list(layout_of(bag.store, bag.topics[topic], bytes(data)).fields)
            for name, column in columns(bag.store, bag.topics[topic], by_length([data]), names).items():
                np.testing.assert_array_equal(column[0], field_of(message, name), err_msg=f"{topic} {name}")


def test_arrays_of_different_lengths_are_refused_with_field_and_lengths():
    with pytest.raises(InvalidValueError, match=r"JointState\.position \(length\)"):
        columns(STORE, JOINTS, by_length([joints("", [], [1.0]), joints("", [], [1.0, 2.0])]), ["position"])


def test_rows_with_arrays_as_long_as_most_are_the_usual_ones():
    messages = [joints("", [], position) for position in ([1.0, 2.0], [5.0], [3.0, 4.0], [])]
    rows = usual(STORE, JOINTS, by_length(messages), ["position", "header.frame_id"])
    assert rows.tolist() == [0, 2]
    assert columns(STORE, JOINTS, by_length([messages[row] for row in rows]), ["position"])["position"].tolist() == [
        [1, 2],
        [3, 4],
    ]
    assert usual(STORE, JOINTS, [], ["position"]).tolist() == []


def test_an_unknown_field_is_refused_with_those_there_are():
    with pytest.raises(InvalidValueError, match=r"torque.*header\.frame_id.*position"):
        columns(STORE, JOINTS, by_length([joints("", [], [1.0])]), ["torque"])


@pytest.mark.parametrize("cut", [1, 9, 30])
def test_a_cut_message_is_refused(cut):
    with pytest.raises(InvalidValueError, match="JointState"):
        columns(STORE, JOINTS, by_length([joints("frame", ["a"], [1.0, 2.0])[:-cut]]), ["position"])
