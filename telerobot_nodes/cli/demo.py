"""`telerobot demo`: the whole graph with a simulated arm, with a console or headless with a judged recording."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from telerobot_nodes.core.config import read_yaml, share_path
from telerobot_nodes.demo import PARAMETERS, DemoSettings, run_headless
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.web import NO_BROWSER
from telerobot_nodes.runtime import GraphOptions, Supervisor, compile_first, supervise

LINK_OPTIONS = ("delay", "jitter", "loss")
HEADLESS_ONLY = {  # option: what to do with a console
    "hand": "with a console, `telerobot replay FILE`",
    "speed": "with a console, choose it beside the replay",
    "time_clutch": "with a console, press T",
    "json_file": "`telerobot review BAG --json FILE` judges a recording",
}


def command(
    context: typer.Context,
    headless: Annotated[
        bool, typer.Option(help="No browser: a recorded hand drives the arm, and the recording is judged.")
    ] = False,
    hand: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Recorded hand: CSV file or bag.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Replay speed of the hand, 0.1 .. 10.")] = 1.0,
    delay: Annotated[float, typer.Option(help="Round trip of the link [s].")] = 2.0,
    jitter: Annotated[float, typer.Option(help="Standard deviation of the one-way delay [s].")] = 0.05,
    loss: Annotated[float, typer.Option(help="Probability that a message is lost, 0 .. 1.")] = 0.02,
    time_clutch: Annotated[bool, typer.Option(help="Engaged: plan time follows the hand.")] = False,
    robot: Annotated[str, typer.Option(help="Robot: arm, panda, ur5, a URDF file or an arm file (YAML).")] = "arm",
    params: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="Parameter file.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder for bag, plot and log; default: runs/TIME.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the console in a browser.")] = False,
    camera: Annotated[bool, typer.Option("--camera", help="Pictures of the simulated arm in the console.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the summary as JSON.")] = None,
) -> None:
    """Run the demo."""
    folder = folder or Path("runs") / time.strftime("%Y%m%d-%H%M%S")
    if no_browser:
        os.environ[NO_BROWSER] = "1"  # for the console's process
    given = _given(context)
    if not headless:
        _check_console_options(given)
    settings = DemoSettings(folder, robot, hand, speed, delay, jitter, loss, time_clutch, params)
    if headless:
        if camera:
            raise InvalidValueError("--camera", "given", "allowed: without --headless; a console shows it")
        compile_first(_show)
        raise typer.Exit(_headless(settings, json_file))
    file = params or share_path(PARAMETERS)
    if given & set(LINK_OPTIONS):
        file = with_link(file, folder / "parameters.yaml", settings.link())
    compile_first(_show)
    _show(f"{_link_text(file)}; change it in the console under Link, or with `telerobot link SECONDS`")
    options = GraphOptions("demo", robot=robot, params=file, bag=folder / "bag", camera=camera)
    raise typer.Exit(supervise(Supervisor(options), ready_timeout=90.0))


def _given(context: typer.Context) -> set[str]:
    """Options that stand on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def _check_console_options(given: set[str]) -> None:
    """Refuse what a demo with a console would ignore. Raises InvalidValueError."""
    for name, instead in HEADLESS_ONLY.items():
        if name in given:
            raise InvalidValueError(
                f"--{name.removesuffix('_file').replace('_', '-')}", "given", f"allowed: with --headless; {instead}"
            )


def with_link(source: Path, file: Path, link: commands.SetLink) -> Path:
    """Write the parameters of `source` to `file`, with this link; returns `file`."""
    sections = _sections(source)
    values = sections.setdefault("link_emulator", {}).setdefault("ros__parameters", {})
    values.update(delay=float(link.delay), jitter=float(link.jitter), loss=float(link.loss))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(sections), encoding="utf-8")
    return file


def _sections(file: Path) -> dict[str, Any]:
    """A parameter file, as it may be written again; raises ParameterFileError."""
    read_yaml(file)
    return yaml.safe_load(file.read_text(encoding="utf-8")) or {}


def _link_text(file: Path) -> str:
    """The link of a parameter file."""
    sections = _sections(file)
    values = sections.get("link_emulator", {}).get("ros__parameters", {})
    return f"the emulated link has a round trip of {2.0 * values.get('delay', 0.0):g} s"


def _headless(settings: DemoSettings, json_file: Path | None) -> int:
    """Run the demo, judge the recording, print and write the result; returns 0 if the run passed."""
    from rich.console import Console

    from telerobot_nodes.cli.review import print_summary
    from telerobot_nodes.operator.review import review_bag
    from telerobot_nodes.plotting import draw_run

    run_headless(settings, show=_show)
    folder = settings.folder
    summary = draw_run(review_bag(folder / "bag", settings.robot), folder / "run.png")
    summary.write(json_file or folder / "summary.json")
    print_summary(Console(), summary)
    return 0 if summary.passed else 1


def _show(text: str) -> None:
    print(f"telerobot: {text}", flush=True)
