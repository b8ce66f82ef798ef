"""`telerobot review BAG`: checks a recorded run against its plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from telerobot_nodes.operator.dataset import Rate
    from telerobot_nodes.operator.review import Event, Review, RunSummary

ActionKind = Literal["joints", "tool"]
MOST_EVENTS = 200
EXIT_NOT_AS_PLANNED = 1


def command(
    bag: Annotated[Path, typer.Argument(help="A recording: folder or .mcap file.")],
    json: Annotated[Path | None, typer.Option(help="Write the summary as JSON.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Write a plot of the run (PNG).")] = None,
    timeline: Annotated[Path | None, typer.Option(help="Write a plot of who planned when (PNG).")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write every table of the run as CSV into this folder.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write one HTML page with figures, plots and events.")] = None,
    other: Annotated[list[Path] | None, typer.Option(help="With --timeline: another operator's recording.")] = None,
    robot: Annotated[str, typer.Option(help="Robot; default: from the recording.")] = "",
    namespace: Annotated[str | None, typer.Option(help="Namespace of the arm, for example left.")] = None,
    foxglove: Annotated[
        Path | None, typer.Option(help="Write one MCAP file with /tf and /robot_description, for Foxglove.")
    ] = None,
    play: Annotated[bool, typer.Option("--play", help="Show the recording in the console.")] = False,
    port: Annotated[int, typer.Option(help="With --play: port on loopback, or the next free one.")] = 8080,
    commands: Annotated[bool, typer.Option("--commands", help="Print only the transcript of the commands.")] = False,
    lerobot: Annotated[
        Path | None, typer.Option(help="Only write a data set for learning into this new folder, in LeRobot's format.")
    ] = None,
    fps: Annotated[int, typer.Option(help="With --lerobot: frames per second, 1 to 200.")] = 20,
    gap: Annotated[float, typer.Option(help="With --lerobot: a longer silence [s] ends an episode.")] = 0.2,
    task: Annotated[str, typer.Option(help="With --lerobot: what was done, in words.")] = "Teleoperate the arm.",
    action: Annotated[
        ActionKind, typer.Option(help="With --lerobot: the commanded joints or the commanded pose of the tool.")
    ] = "joints",
) -> None:
    """Check a recorded run; exit code 1: it deviated from its plan."""
    if commands:
        from telerobot_nodes.operator.review import as_text, command_log

        print(as_text(command_log(bag)), end="")
        return
    if play:
        from telerobot_nodes.cli.review.playback import play as play_back

        play_back(bag, robot, namespace, port)
        return
    if lerobot is not None:
        from telerobot_nodes.operator.dataset import Rate

        write_data_set(bag, lerobot, Rate(fps, gap), task, action, robot, namespace)
        return
    from rich.console import Console

    from telerobot_nodes.operator.review import read_sides, review_bag

    keep_recordings([bag, *(other or ())], {"json": json, "picture": picture, "timeline": timeline, "html": html})
    found = review_bag(bag, robot, namespace)
    summary = found.summary
    if picture is not None:
        from telerobot_nodes.plotting import draw_run

        summary = draw_run(found, picture)
    if timeline is not None:
        from telerobot_nodes.plotting import draw_timeline

        draw_timeline(found, read_sides([bag, *(other or ())]), timeline)
    if csv is not None:
        from telerobot_nodes.operator.review import write_tables

        write_tables(found, csv)
    if foxglove is not None:
        from telerobot_nodes.core.robot import load_robot
        from telerobot_nodes.operator.review import write_foxglove

        write_foxglove(bag, load_robot(robot or found.run.robot or "arm"), foxglove, namespace)
    if html is not None:
        write_page(found, html)
    if json is not None:
        summary.write(json)
    console = Console()
    print_timeline(console, found.run.events)
    print_summary(console, summary)
    raise typer.Exit(0 if summary.passed else EXIT_NOT_AS_PLANNED)


def keep_recordings(bags: Iterable[Path], files: Mapping[str, Path | None]) -> None:
    """Refuse files, by their options, that would be written over a recording. Raises InvalidValueError."""
    from telerobot_nodes.errors import InvalidValueError

    kept = {bag.resolve() for bag in bags}
    for option, file in files.items():
        if file is not None and kept & {file.resolve(), *file.resolve().parents}:
            raise InvalidValueError(option, str(file), "allowed: a file that is no part of the recording")


def write_data_set(
    bag: Path, folder: Path, rate: Rate, task: str, action: str, robot: str, namespace: str | None
) -> None:
    """Write the data set, and print what it holds and what was left out."""
    from telerobot_nodes.core.robot import load_robot
    from telerobot_nodes.operator.dataset import write_lerobot
    from telerobot_nodes.operator.recording import BagReader
    from telerobot_nodes.operator.review import robot_of

    with BagReader(bag) as reader:
        model = load_robot(robot or robot_of(reader) or "arm")
    frames = write_lerobot(bag, model, folder, rate, task, action, namespace)
    count = sum(map(len, frames.episodes))
    print(f"{folder}: episodes {len(frames.episodes)}, frames {count} at {rate.fps} per second")
    for begin, end, why in frames.left_out:
        print(f"  left out {begin:.2f} to {end:.2f} s: {why}")
    if frames.repeated:
        print(f"  {frames.repeated} frames repeat the picture before: the camera was slower")


def write_page(found: Review, file: Path) -> None:
    """Write the page of a run, with its pictures inside. Raises InvalidValueError when it cannot be written."""
    from tempfile import TemporaryDirectory

    from telerobot_nodes.errors import InvalidValueError
    from telerobot_nodes.operator.review import html_page
    from telerobot_nodes.plotting import draw_events, draw_run

    with TemporaryDirectory() as folder:
        events, run = Path(folder, "events.png"), Path(folder, "run.png")
        draw_events(found, events)
        draw_run(found, run)
        page = html_page(found, {"Timeline": events.read_bytes(), "Plan and motion": run.read_bytes()})
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidValueError("html", str(file), f"allowed: a file that can be written; {error}") from None


def print_timeline(console: Console, events: list[Event]) -> None:
    """Print the events of the run in order."""
    from rich.table import Table

    table = Table(title="Timeline", box=None, title_justify="left", pad_edge=False)
    table.add_column("s", justify="right", style="cyan")
    table.add_column("who", style="magenta")
    table.add_column("what")
    for event in events[:MOST_EVENTS]:
        table.add_row(f"{event.time:.2f}", event.source, event.text)
    console.print(table)
    if len(events) > MOST_EVENTS:
        console.print(f"... and {len(events) - MOST_EVENTS} more")


def print_summary(console: Console, summary: RunSummary) -> None:
    """Print the summary of the run."""
    from rich.table import Table

    from telerobot_nodes.operator.review import summary_lines

    colour = "green" if summary.passed else "red"
    verdict = "as planned" if summary.passed else "NOT as planned"
    table = Table(title=f"[{colour}]{verdict}[/] {summary.bag}", box=None, title_justify="left", show_header=False)
    table.add_column(style="magenta")
    table.add_column()
    for name, text in summary_lines(summary):
        table.add_row(name, text)
    console.print(table)
