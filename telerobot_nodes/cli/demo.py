"""`telerobot demo`: the whole graph with a simulated arm; with a console, or headless with a verdict."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.core.share import share_path
from telerobot_nodes.demo import PARAMETERS, DemoSettings, run_headless
from telerobot_nodes.launching import GraphOptions
from telerobot_nodes.operator.console.browser import NO_BROWSER
from telerobot_nodes.supervisor import Supervisor, supervise


def command(
    headless: Annotated[
        bool, typer.Option(help="No browser: a recorded hand drives, the recording is judged.")
    ] = False,
    hand: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="CSV or bag of a hand.")] = None,
    speed: Annotated[float, typer.Option(help="Playback speed of the hand, 0.1 .. 10.")] = 1.0,
    delay: Annotated[float, typer.Option(help="Round trip of the link [s].")] = 2.0,
    jitter: Annotated[float, typer.Option(help="Standard deviation of the one-way delay [s].")] = 0.05,
    loss: Annotated[float, typer.Option(help="Share of messages lost, 0 .. 1.")] = 0.02,
    time_clutch: Annotated[bool, typer.Option(help="Engaged: plan time follows the hand.")] = False,
    robot: Annotated[str, typer.Option(help="Robot: arm, panda, ur5 or the path of a URDF file.")] = "arm",
    params: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="Parameter file.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where bag, picture and log go; default runs/TIME.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the console in a browser.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Summary as JSON.")] = None,
) -> None:
    """Run the demo."""
    folder = folder or Path("runs") / time.strftime("%Y%m%d-%H%M%S")
    if no_browser:
        os.environ[NO_BROWSER] = "1"  # for the console's process
    if not headless:
        options = GraphOptions("demo", robot=robot, params=params or share_path(PARAMETERS), bag=folder / "bag")
        raise typer.Exit(supervise(Supervisor(options), ready_timeout=90.0))
    settings = DemoSettings(folder, robot, hand, speed, delay, jitter, loss, time_clutch, params)
    raise typer.Exit(_headless(settings, json_file))


def _headless(settings: DemoSettings, json_file: Path | None) -> int:
    """Run, judge the recording, print, write; 0 when the run passed."""
    from rich.console import Console

    from telerobot_nodes.cli.review import print_summary
    from telerobot_nodes.operator.report import review_bag

    run_headless(settings, say=lambda text: print(f"telerobot: {text}", flush=True))
    folder = settings.folder
    summary, _ = review_bag(
        folder / "bag", settings.robot, None, json_file or folder / "summary.json", folder / "run.png"
    )
    print_summary(Console(), summary)
    return 0 if summary.passed else 1
