"""`telerobot macro learn NAME --bag BAG | --live`: a macro, or steps of one, from a motion that was shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import typer

from telerobot_nodes.cli.macro.words import RobotName, model_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import OWN, Track, check_name, merged, read_macros, read_track, replace_macro, require_fit
from telerobot_nodes.macros import learn as learned


class Motion(str, Enum):
    """What the learned macro keeps."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"


def learn(
    name: Annotated[
        str, typer.Argument(help="Name of the new macro; with --into, how the names of the new steps begin.")
    ] = "",
    bag: Annotated[
        Path | None, typer.Option(exists=True, help="Recording of the motion: a rosbag2 folder or .mcap file.")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Follow the arm of the running graph until Enter or Ctrl-C.")
    ] = False,
    motion: Annotated[
        Motion | None,
        typer.Option(help="relative: the same motion from wherever it starts; with --into that of the macro."),
    ] = None,
    begin: Annotated[float, typer.Option("--from", min=0.0, help="Part of the motion: from this time [s].")] = 0.0,
    end: Annotated[float, typer.Option("--to", help="To this time [s].")] = float("inf"),
    seconds: Annotated[
        float | None, typer.Option(min=0.1, max=3600.0, help="With --live: end by itself after this time [s].")
    ] = None,
    into: Annotated[str, typer.Option(metavar="MACRO", help="Insert the steps into this macro.")] = "",
    after: Annotated[str, typer.Option(metavar="STEP", help="With --into: after this step; default: at its end.")] = "",
    folder: Annotated[Path, typer.Option(help="Folder the file is written to.")] = OWN,
    doc: Annotated[str, typer.Option(help="What a new macro does; default: where it was learned.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace a macro; its version grows by one.")] = False,
    robot: RobotName = "arm",
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left or practice.")] = "",
) -> None:
    """Write a macro that repeats what the arm did, or insert it into one; edit, check and test it before it runs."""
    if (bag is None) is not live:
        raise InvalidValueError("learn", "both" if live else "neither", "allowed: one of --bag and --live")
    for option, given, needed, there in (
        ("--seconds", seconds, "with --live", live),
        ("--after", after, "with --into", into),
        ("--replace", replace, "without --into", not into),
        ("--doc", doc, "without --into", not into),
    ):
        if given and not there:
            raise InvalidValueError(option, given, f"allowed: {needed}")
    if not begin < end:
        raise InvalidValueError("--to", end, f"allowed: later than --from, {begin:g} s")
    model, word = model_of(robot), motion.value if motion is not None else ""
    wanted: _NewMacro | _Insertion
    if into:
        wanted = _Insertion(folder, into, after, word, name)
    else:
        wanted = _NewMacro(
            folder, name, doc or f"Learned from {'a running graph' if live else 'a recording'}.", word, replace
        )
    wanted.check()  # before a person leads the arm
    if bag is None:
        from telerobot_nodes.cli.macro.live import LONGEST, follow_live

        track = follow_live(model, namespace, seconds or LONGEST).track()
    else:
        track = read_track(bag, model, namespace)
    text = wanted.text(track.part(begin, end))
    steps = replace_macro(folder, wanted.name, text, model)
    print(f"{folder / wanted.name}.yaml: version {read_macros(folder).get(wanted.name).version}, {steps} steps")


@dataclass(frozen=True)
class _NewMacro:
    """A file of its own."""

    folder: Path
    name: str
    doc: str
    motion: str
    replace: bool

    def check(self) -> None:
        """Raise InvalidValueError unless it may be written."""
        check_name(self.name)
        if not self.motion:
            raise InvalidValueError("--motion", "none", "allowed: absolute, relative")
        if self._exists and not self.replace:
            raise InvalidValueError("name", self.name, f"allowed: a name that is free in {self.folder}, or --replace")

    def text(self, track: Track) -> str:
        """The file. Raises InvalidValueError: nothing moved, or there is such a file by now."""
        self.check()
        version = read_macros(self.folder).get(self.name).version + 1 if self._exists else 1
        kind: Literal["absolute", "relative"] = "relative" if self.motion == "relative" else "absolute"
        return learned(track, self.name, self.doc, kind, version)

    @property
    def _exists(self) -> bool:
        return (self.folder / f"{self.name}.yaml").exists()


@dataclass(frozen=True)
class _Insertion:
    """Steps in a file that is there."""

    folder: Path
    name: str
    after: str  # step; empty: the last
    motion: str  # as asked for; empty: that of the macro
    word: str  # with which the names of the new steps begin

    def check(self) -> None:
        """Raise NoMacroError, ParameterFileError or InvalidValueError unless steps may be inserted."""
        if self.word and not re.fullmatch(r"\w+", self.word):
            raise InvalidValueError("name", self.word, "allowed: letters, digits and _")
        require_fit(read_macros(self.folder).get(self.name), self.motion, self.after)

    def text(self, track: Track) -> str:
        """The file as it is by now, with the steps. Raises as `check`, and InvalidValueError: nothing moved."""
        return merged(read_macros(self.folder), self.name, track, self.motion, self.after, self.word)
