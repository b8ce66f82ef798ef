"""The index finds every message of a topic, in every kind of chunk, and the same as the library reads."""

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader, Places
from telerobot_nodes.operator.recording.bags import message_types

STORE = message_types()
KIND = "std_msgs/msg/String"
START = 10**18


def text(k):
    return bytes(STORE.serialize_cdr(STORE.types[KIND](data=f"{k} " * 400), KIND))


@pytest.fixture(params=[CompressionMode.NONE, CompressionMode.STORAGE])
def bag(request, tmp_path):
    """Two topics over several chunks; every tenth message is received late."""
    writer = Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
    if request.param is not CompressionMode.NONE:
        writer.set_compression(request.param, CompressionFormat.ZSTD)
    with writer:
        a, b = (writer.add_connection(name, KIND, typestore=STORE) for name in ("/a", "/b"))
        for k in range(3000):
            writer.write(b if k % 3 else a, START + (k + 15 * (k % 10 == 0)) * 10**6, text(k))
    return tmp_path / "bag"


@pytest.mark.lengthy
def test_the_index_gives_what_the_library_reads_in_order_of_receipt(bag):
    with BagReader(bag) as reader:
        for topic in ("/a", "/b"):
            found = [(time, reader.decode(topic, data).data) for time, data in reader.each(topic)]
            wanted = sorted((time, message.data) for _, time, message in reader.messages([topic]))
            assert len(found) == reader.counts[topic]
            assert sorted(found) == wanted
            assert np.all(np.diff([time for time, _ in found]) >= 0.0)


@pytest.mark.lengthy
def test_the_tables_of_each_length_hold_every_message_once(bag):
    with BagReader(bag) as reader:
        places = reader.index.places("/a")[::7]
        wanted = [bytes(data) for data in reader.index.messages(places)]
        tables = reader.index.tables(places)
        assert len({octets.shape[1] for _, octets in tables}) == len(tables) > 1
        found = {int(row): octet.tobytes() for rows, octets in tables for row, octet in zip(rows, octets, strict=True)}
        assert [found[row] for row in range(len(wanted))] == wanted
        assert sum(len(rows) for rows, _ in tables) == len(wanted)
        with pytest.raises(InvalidValueError, match="index"):
            reader.index.tables(Places(places.time, places.chunk, places.offset + 10**9))


def test_a_topic_that_is_not_there_has_no_messages(bag):
    with BagReader(bag) as reader:
        assert list(reader.each("/c")) == []
        assert reader.columns("/c", ["data"]) == {}


def test_a_cut_message_names_bag_and_topic(bag):
    with BagReader(bag) as reader, pytest.raises(InvalidValueError, match=r"bag: /a"):
        reader.decode("/a", text(1)[:-100])


def test_a_file_without_an_index_is_refused_by_name(tmp_path):
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        writer.write(writer.add_connection("/a", KIND, typestore=STORE), START, text(1))
    with BagReader(tmp_path / "bag") as reader, pytest.raises(InvalidValueError, match=r"bag.*MCAP"):
        list(reader.each("/a"))
