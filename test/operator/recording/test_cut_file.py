"""Recordings that were never closed: what was on the disk is read, at whatever byte they end."""

import subprocess
import sys
import time

import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader
from telerobot_nodes.operator.recording.bags import message_types

KIND = "std_msgs/msg/Int64"
START = 10**18
TOPICS = ("/a", "/b", "/c")  # of the last there is no message
STORE = message_types()


def number(k):
    return bytes(STORE.serialize_cdr(STORE.types[KIND](data=k), KIND))


def chunked(folder, mode):
    """A closed bag of six chunks with ten messages each; where each chunk ended in the file."""
    writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    if mode is not CompressionMode.NONE:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    ends = []
    with writer:
        made = [writer.add_connection(name, KIND, typestore=STORE) for name in TOPICS]
        for k in range(60):
            writer.write(made[k % 2], START + k * 10**6, number(k))
            if k % 10 == 9:
                writer.storage.close_chunk()
                ends.append(writer.storage.bio.tell())
    return ends


@pytest.mark.parametrize("mode", [CompressionMode.NONE, CompressionMode.STORAGE])
def test_at_whatever_byte_it_ends_its_whole_chunks_are_read(tmp_path, mode):
    ends = chunked(tmp_path / "closed", mode)
    content = (tmp_path / "closed" / "closed.mcap").read_bytes()
    cut = tmp_path / "cut"
    cut.mkdir()
    for size in sorted({*range(ends[0], len(content), 37), *ends, *(end - 1 for end in ends[1:]), len(content) - 1}):
        (cut / "cut.mcap").write_bytes(content[:size])
        wanted = list(range(10 * sum(end <= size for end in ends)))
        with BagReader(cut) as bag:
            assert not bag.closed and set(bag.topics) == set(TOPICS)
            assert [message.data for _, _, message in bag.messages()] == wanted, size
            assert bag.counts == {"/a": len(wanted[::2]), "/b": len(wanted[1::2]), "/c": 0}
            assert bag.duration == pytest.approx(1e-3 * wanted[-1], abs=1e-6)
            assert [bag.decode("/b", data).data for _, data in bag.each("/b")] == wanted[1::2]
            assert bag.columns("/a", ["data"])["data"].tolist() == wanted[::2]
        assert (cut / "cut.mcap").read_bytes() == content[:size]


def test_a_file_that_is_cut_is_read_alone_too_and_a_whole_one_without_its_folder(tmp_path):
    ends = chunked(tmp_path / "bag", CompressionMode.NONE)
    file = tmp_path / "bag" / "bag.mcap"
    (tmp_path / "bag" / "metadata.yaml").unlink()
    with BagReader(tmp_path / "bag") as bag:  # killed between the end of the file and its metadata
        assert (bag.closed, sum(bag.counts.values())) == (False, 60)
    with BagReader(file) as bag:
        assert bag.closed
    file.write_bytes(file.read_bytes()[: ends[2] + 5])
    with BagReader(file) as bag:
        assert (bag.closed, sum(bag.counts.values())) == (False, 30)


def test_what_is_damaged_inside_is_refused_by_name(tmp_path):
    ends = chunked(tmp_path / "bag", CompressionMode.NONE)
    file = tmp_path / "bag" / "bag.mcap"
    content = bytearray(file.read_bytes()[: ends[2]])
    at = content.index(b"\x06", 9)  # the length of a chunk's compression
    content[at + 9 + 28 : at + 9 + 32] = b"\xff" * 4
    file.write_bytes(content)
    with pytest.raises(InvalidValueError, match=r"bag: .*bag\.mcap"):
        BagReader(file)


WRITES = """
import itertools, sys, time
from pathlib import Path
from telerobot_nodes.graph import Qos
from telerobot_nodes.operator.recording import BagTopic, BagWriter
from telerobot_nodes.operator.recording.bags import message_types
store = message_types()
writer = BagWriter(Path(sys.argv[1]), {"/a": BagTopic("std_msgs/msg/Int64", Qos.STATE)})
print("open", flush=True)
for k in itertools.count():
    data = bytes(store.serialize_cdr(store.types["std_msgs/msg/Int64"](data=k), "std_msgs/msg/Int64"))
    writer.write("/a", time.time_ns(), data)
    time.sleep(0.005)
"""


def numbers_in(folder):
    with BagReader(folder) as bag:
        assert not bag.closed
        return [message.data for _, _, message in bag.messages()]


@pytest.mark.lengthy
def test_a_recording_is_read_while_it_runs_and_after_its_recorder_was_killed(tmp_path):
    folder = tmp_path / "bag"
    process = subprocess.Popen([sys.executable, "-c", WRITES, str(folder)], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline()
        assert numbers_in(folder) == []
        limit = time.monotonic() + 20.0
        while len(seen := numbers_in(folder)) < 150 and time.monotonic() < limit:
            process.poll()
        assert len(seen) >= 150, "some kilobytes: they are on the disk before a large chunk is full"
    finally:
        process.kill()
        process.wait()
    after = numbers_in(folder)
    assert after == list(range(len(after))) and len(after) >= len(seen)
