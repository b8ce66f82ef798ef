"""A data set in LeRobot's format v3.0: Parquet files of frames and of episodes, tasks, statistics, info.json.

Layout: data/chunk-000/file-000.parquet holds the frames, meta/episodes/... a row for each episode, meta/tasks.parquet
the tasks by text, meta/stats.json and meta/info.json the rest. Pictures are features of the kind `image`: as they were
recorded, inside the Parquet files; none is encoded a second time.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, NotInstalledError
from telerobot_nodes.operator.dataset.frames import Episode, Frames, Rate, read_frames
from telerobot_nodes.operator.dataset.sources import PICTURES, read_sources
from telerobot_nodes.operator.dataset.statistics import picture_statistics, statistics
from telerobot_nodes.operator.recording import BagReader
from telerobot_nodes.operator.review import arm_prefix

VERSION = "v3.0"
FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
CHUNK = 1000  # files
MEGABYTES = 100  # of a file: a longer one is begun before the next episode
ROWS = 500  # frames written at once, which bounds the memory for pictures
CAMERA = "observation.images.camera"
COUNTS = ("frame_index", "episode_index", "index", "task_index")
MOST_PICTURES = 100  # of an episode, of which statistics are made


def write_lerobot(
    path: Path, robot: RobotModel, folder: Path, rate: Rate, task: str, action: str, namespace: str | None = None
) -> Frames:
    """Write the recording `path` as a data set into the new `folder`; returns what it holds and what was left out.

    Raises NotInstalledError without pyarrow, InvalidValueError naming bag, topic or folder.
    """
    arrow = _arrow()
    with BagReader(path) as bag:
        prefix = arm_prefix(bag.topics, namespace, path)
        frames = read_frames(read_sources(bag, prefix, robot), rate, action)
        made = False
        try:
            folder.mkdir(parents=True)
            made = True
            _Writer(arrow, folder, frames, _Pictures(bag, f"{prefix}{PICTURES}"), rate, task).write(robot.name)
        except OSError as error:
            if made:
                shutil.rmtree(folder, ignore_errors=True)  # what is there is not whole
            raise InvalidValueError("lerobot", str(folder), f"allowed: a new folder; {error}") from None
    return frames


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise NotInstalledError("a LeRobot data set needs pyarrow: pip install 'telerobot[lerobot]'") from None
    return pyarrow


class _Pictures:
    """Recorded pictures by number, read when they are asked for."""

    def __init__(self, bag: BagReader, topic: str) -> None:
        self._bag, self._topic = bag, topic
        self._places = bag.index.places(topic)

    def encoded(self, numbers: npt.NDArray[np.int64]) -> list[bytes]:
        """JPEG or PNG bytes of each number; a number that repeats is read once."""
        wanted, where = np.unique(numbers, return_inverse=True)
        messages = self._bag.index.messages(self._places[wanted])
        read = [bytes(self._bag.decode(self._topic, data).data) for data in messages]
        return [read[k] for k in where.tolist()]


def _decoded(encoded: bytes) -> npt.NDArray[np.uint8]:
    """A picture (height, width, 3)."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(encoded)).convert("RGB"))


@dataclass
class _Writer:
    """One data set that is being written."""

    arrow: Any  # pyarrow
    folder: Path
    frames: Frames
    pictures: _Pictures
    rate: Rate
    task: str

    def write(self, robot: str) -> None:
        """Write every file."""
        self.shape = self._picture_shape()
        rows = self._write_frames()
        self._write_table(
            self.folder / "meta/episodes" / FILE.format(chunk_index=0, file_index=0), self._episodes(rows)
        )
        self._write_table(self.folder / "meta/tasks.parquet", self._tasks())
        self._write_json("stats", self._stats())
        self._write_json("info", self._info(robot))

    # frames --------------------------------------------------------------------------------------------------

    def _write_frames(self) -> list[tuple[int, int]]:
        """Write the frames; chunk and file of each episode."""
        parquet, schema = self.arrow.parquet, self._schema()
        number, index, where, writer, file = -1, 0, [], None, Path()
        for k, episode in enumerate(self.frames.episodes):
            if writer is None or file.stat().st_size > MEGABYTES * 1024**2:
                if writer is not None:
                    writer.close()
                number += 1
                file = self.folder / "data" / FILE.format(chunk_index=number // CHUNK, file_index=number % CHUNK)
                file.parent.mkdir(parents=True, exist_ok=True)
                writer = parquet.ParquetWriter(file, schema)
            for table in self._tables(schema, episode, k, index):
                writer.write_table(table)
            where.append((number // CHUNK, number % CHUNK))
            index += len(episode)
        if writer is not None:
            writer.close()
        return where

    def _schema(self) -> Any:
        arrow = self.arrow
        fields = [
            arrow.field(name, arrow.list_(arrow.float32(), len(names))) for name, names in self.frames.names.items()
        ]
        fields.append(arrow.field("timestamp", arrow.float32()))
        fields += [arrow.field(name, arrow.int64()) for name in COUNTS]
        if self.shape:
            fields.append(arrow.field(CAMERA, arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])))
        return arrow.schema(fields)

    def _tables(self, schema: Any, episode: Episode, number: int, index: int) -> Iterator[Any]:
        for a in range(0, len(episode), ROWS):
            frame = np.arange(a, min(a + ROWS, len(episode)))
            columns: dict[str, Any] = {
                name: list(values[frame].astype(np.float32)) for name, values in episode.columns.items()
            }
            columns["timestamp"] = (frame / self.rate.fps).astype(np.float32)
            counts = (frame, np.full(len(frame), number), frame + index, np.zeros(len(frame), np.int64))
            columns |= dict(zip(COUNTS, counts, strict=True))
            if self.shape:
                columns[CAMERA] = [
                    {"bytes": data, "path": f"frame-{k:06d}.jpg"}
                    for k, data in zip(frame.tolist(), self._sized(episode.picture[frame]), strict=True)
                ]
            yield self.arrow.Table.from_pydict(columns, schema=schema)

    def _picture_shape(self) -> tuple[int, ...]:
        """Height, width, 3 of the first picture; empty: there is none."""
        numbers = self.frames.episodes[0].picture[:1]
        return _decoded(self.pictures.encoded(numbers)[0]).shape if len(numbers) else ()

    def _sized(self, numbers: npt.NDArray[np.int64]) -> list[bytes]:
        """Encoded pictures, each of the first one's size, as a data set needs them."""
        from PIL import Image

        height, width = self.shape[:2]
        found = self.pictures.encoded(numbers)
        for k, data in enumerate(found):
            picture = Image.open(io.BytesIO(data))
            if picture.size != (width, height):
                resized, stream = picture.convert("RGB").resize((width, height)), io.BytesIO()
                resized.save(stream, "PNG")
                found[k] = stream.getvalue()
        return found

    # what describes them -------------------------------------------------------------------------------------

    def _episodes(self, where: list[tuple[int, int]]) -> Any:
        begin, rows = 0, []
        for k, episode in enumerate(self.frames.episodes):
            row: dict[str, Any] = {
                "episode_index": k,
                "tasks": [self.task],
                "length": len(episode),
                "data/chunk_index": where[k][0],
                "data/file_index": where[k][1],
                "dataset_from_index": begin,
                "dataset_to_index": begin + len(episode),
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
            }
            for feature, values in self._episode_stats([episode], begin).items():
                row |= {f"stats/{feature}/{name}": value for name, value in values.items()}
            rows.append(row)
            begin += len(episode)
        return self.arrow.Table.from_pylist(rows)

    def _tasks(self) -> Any:
        """The tasks as pandas keeps a frame whose index is the task's text."""
        table = self.arrow.table({"task_index": self.arrow.array([0], self.arrow.int64()), "task": [self.task]})
        about = {
            "index_columns": ["task"],
            "column_indexes": [],
            "columns": [
                _pandas_column("task_index", "int64", "int64"),
                _pandas_column("task", "unicode", "object"),
            ],
            "creator": {"library": "pyarrow", "version": self.arrow.__version__},
            "pandas_version": None,
        }
        return table.replace_schema_metadata({"pandas": json.dumps(about)})

    def _stats(self) -> dict[str, Any]:
        return self._episode_stats(self.frames.episodes, 0)

    def _episode_stats(self, episodes: list[Episode], begin: int) -> dict[str, Any]:
        found = {
            name: statistics(np.concatenate([episode.columns[name].astype(np.float32) for episode in episodes]))
            for name in self.frames.names
        }
        lengths = [len(episode) for episode in episodes]
        frame = np.concatenate([np.arange(n) for n in lengths])
        number = np.repeat(np.arange(len(lengths)), lengths)
        if len(episodes) == 1:
            number += next(k for k, episode in enumerate(self.frames.episodes) if episode is episodes[0])
        found["timestamp"] = statistics((frame / self.rate.fps).astype(np.float32))
        index = begin + np.arange(len(frame))
        for name, values in zip(COUNTS, (frame, number, index, np.zeros(len(frame))), strict=True):
            found[name] = statistics(values)
        if self.shape:
            numbers = np.unique(np.concatenate([episode.picture for episode in episodes]))
            some = numbers[np.unique(np.linspace(0, len(numbers) - 1, MOST_PICTURES).astype(int))]
            found[CAMERA] = picture_statistics([_decoded(data) for data in self._sized(some)])
        return found

    def _info(self, robot: str) -> dict[str, Any]:
        features: dict[str, Any] = {
            name: {"dtype": "float32", "shape": [len(names)], "names": list(names)}
            for name, names in self.frames.names.items()
        }
        features["timestamp"] = {"dtype": "float32", "shape": [1], "names": None}
        features |= {name: {"dtype": "int64", "shape": [1], "names": None} for name in COUNTS}
        if self.shape:
            features[CAMERA] = {"dtype": "image", "shape": list(self.shape), "names": ["height", "width", "channels"]}
        episodes = self.frames.episodes
        return {
            "codebase_version": VERSION,
            "robot_type": robot,
            "total_episodes": len(episodes),
            "total_frames": sum(map(len, episodes)),
            "total_tasks": 1,
            "chunks_size": CHUNK,
            "data_files_size_in_mb": MEGABYTES,
            "video_files_size_in_mb": 200,
            "fps": self.rate.fps,
            "splits": {"train": f"0:{len(episodes)}"},
            "data_path": f"data/{FILE}",
            "video_path": None,
            "features": features,
        }

    # files ---------------------------------------------------------------------------------------------------

    def _write_table(self, file: Path, table: Any) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.arrow.parquet.write_table(table, file)

    def _write_json(self, name: str, content: dict[str, Any]) -> None:
        (self.folder / "meta" / f"{name}.json").write_text(json.dumps(content, indent=4) + "\n", encoding="utf-8")


def _pandas_column(name: str, kind: str, numpy_kind: str) -> dict[str, Any]:
    return {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy_kind, "metadata": None}
