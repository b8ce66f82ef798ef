"""`telerobot review BAG`: what happened in a recorded run, and whether it was as planned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from telerobot_nodes.operator.review import RunSummary
    from telerobot_nodes.operator.run_record import Event

MOST_EVENTS = 200
EXIT_NOT_AS_PLANNED = 1


def command(
    bag: Annotated[Path, typer.Argument(help="A recording: folder or .mcap file.")],
    json: Annotated[Path | None, typer.Option(help="Write the summary as JSON.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Write a picture (PNG).")] = None,
    timeline: Annotated[Path | None, typer.Option(help="Write a picture of who planned when (PNG).")] = None,
    other: Annotated[list[Path] | None, typer.Option(help="With --timeline: another operator's recording.")] = None,
    robot: Annotated[str, typer.Option(help="Robot; empty: as the recording tells.")] = "",
    namespace: Annotated[str | None, typer.Option(help="Namespace of the arm, as in left.")] = None,
    commands: Annotated[bool, typer.Option("--commands", help="Only the transcript of the commands.")] = False,
) -> None:
    """Check a recorded run; exit code 1 when it was not as planned."""
    if commands:
        from telerobot_nodes.operator.command_log import as_text, command_log

        print(as_text(command_log(bag)), end="")
        return
    from rich.console import Console

    from telerobot_nodes.operator.report import review_bag

    summary, events = review_bag(bag, robot, namespace, json, picture, timeline, other or ())
    console = Console()
    print_timeline(console, events)
    print_summary(console, summary)
    raise typer.Exit(0 if summary.passed else EXIT_NOT_AS_PLANNED)


def print_timeline(console: Console, events: list[Event]) -> None:
    """What happened, in order."""
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
    """What the run amounts to."""
    from rich.table import Table

    from telerobot_nodes.operator.report import summary_lines

    colour = "green" if summary.passed else "red"
    verdict = "as planned" if summary.passed else "NOT as planned"
    table = Table(title=f"[{colour}]{verdict}[/] {summary.bag}", box=None, title_justify="left", show_header=False)
    table.add_column(style="magenta")
    table.add_column()
    for name, text in summary_lines(summary):
        table.add_row(name, text)
    console.print(table)
