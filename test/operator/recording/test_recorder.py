"""Recordings one after another: each a valid bag of its own, and a reason for each that cannot be."""

import shutil
import threading
import time
from collections import namedtuple

import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import Qos
from telerobot_nodes.operator.recording import (
    BagReader,
    BagTopic,
    DiskFullError,
    Recorder,
    default_folder,
    free_beside,
)
from telerobot_nodes.operator.recording.bags import message_types

STRING = "std_msgs/msg/String"
TOPICS = {"/said": BagTopic(STRING, Qos.COMMAND), "/kept": BagTopic(STRING, Qos.LATCHED)}
Usage = namedtuple("Usage", "total used free")


def text(word):
    types = message_types()
    return bytes(types.serialize_cdr(types.types[STRING](data=word), STRING))


def words(folder):
    with BagReader(folder) as bag:
        return [(topic, message.data) for topic, _, message in bag.messages()]


def ended(recorder, now):
    """The recording that `end` closes, once it is a valid bag."""
    done, found = threading.Event(), []
    recorder.end(now, lambda recording: (found.append(recording), done.set()))
    assert done.wait(20.0)
    return found[0]


@pytest.fixture
def recorder():
    made = Recorder(TOPICS)
    yield made
    made.close(100.0)


@pytest.mark.lengthy
def test_each_recording_holds_what_came_while_it_was_open(recorder, tmp_path):
    for number in (1, 2):
        recorder.write("/said", number, text("between"))
        begun = recorder.begin(tmp_path / f"bag_{number}", 10.0 * number)
        assert (begun.on, begun.folder) == (True, tmp_path / f"bag_{number}")
        recorder.write("/said", 10 + number, text(f"in {number}"))
        assert recorder.recording(10.0 * number + 3.0).duration == 3.0
        last = ended(recorder, 10.0 * number + 4.0)
        assert (last.on, last.duration, last.counts.written) == (False, 4.0, 1)
        assert last.counts.size == sum(file.stat().st_size for file in last.folder.iterdir())
        assert recorder.recording(99.0) == last
    for number in (1, 2):
        assert words(tmp_path / f"bag_{number}") == [("/said", f"in {number}")]


@pytest.mark.lengthy
def test_a_recording_begins_with_what_was_published_last_on_durable_topics(recorder, tmp_path):
    recorder.write("/kept", 1, text("old"))
    recorder.write("/kept", 2, text("in force"))
    recorder.begin(tmp_path / "bag", 0.0, 50)
    recorder.write("/said", 60, text("then"))
    ended(recorder, 1.0)
    assert words(tmp_path / "bag") == [("/kept", "in force"), ("/said", "then")]


def test_what_cannot_be_done_is_refused_with_the_field_and_what_is_allowed(recorder, tmp_path):
    with pytest.raises(InvalidValueError, match="record: 'off' is not allowed; allowed: while a recording is open"):
        recorder.end(0.0, print)
    (tmp_path / "there").mkdir()
    with pytest.raises(InvalidValueError, match=r"bag: '.*there' is not allowed; allowed: a folder that does not"):
        recorder.begin(tmp_path / "there", 0.0)
    (tmp_path / "file").touch()
    with pytest.raises(InvalidValueError, match="allowed: a folder that can be made"):
        recorder.begin(tmp_path / "file" / "bag", 0.0)
    assert not recorder.recording(0.0).on
    recorder.begin(tmp_path / "bag", 0.0)
    with pytest.raises(InvalidValueError, match=r"record: 'on' is not allowed; allowed: after the recording in .*bag"):
        recorder.begin(tmp_path / "other", 0.0)
    assert not (tmp_path / "other").exists()


def test_a_full_disk_is_refused_before_a_folder_is_made(tmp_path):
    with pytest.raises(DiskFullError, match=f"allowed: on a disk with {1 << 62} bytes free"):
        Recorder(TOPICS, reserve_bytes=1 << 62).begin(tmp_path / "new" / "bag", 0.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.lengthy
def test_a_recording_that_fills_its_disk_ends_validly_and_another_can_begin(recorder, tmp_path, monkeypatch):
    recorder.begin(tmp_path / "first", 0.0)
    recorder.write("/said", 1, text("word"))
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda path: Usage(1, 1, 0))
        limit = time.monotonic() + 20.0
        while recorder.recording(1.0).on and time.monotonic() < limit:
            threading.Event().wait(0.01)
    failed = recorder.recording(2.0)
    assert not failed.on and "disk nearly full (0 bytes free)" in failed.counts.failure
    with pytest.raises(InvalidValueError, match="allowed: while a recording is open"):
        recorder.end(3.0, print)
    words(tmp_path / "first")  # a valid bag
    assert recorder.begin(tmp_path / "second", 3.0).on
    assert recorder.recording(3.0).counts.failure == ""


def test_the_default_folder_is_named_by_time_and_never_reused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    at = time.struct_time((2026, 11, 21, 8, 0, 5, 5, 325, 0))
    names = []
    for _ in range(3):
        folder = default_folder(at)
        names.append(str(folder))
        folder.mkdir(parents=True)
    assert names == ["runs/20261121-080005/bag", "runs/20261121-080005_2/bag", "runs/20261121-080005_3/bag"]
    assert str(free_beside(folder)) == "runs/20261121-080005_3/bag_2"
