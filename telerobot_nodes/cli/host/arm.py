"""`telerobot arm check FILE`, `telerobot arm stand-in FILE`: before an integrator's arm is there, and when it is."""

from __future__ import annotations

import json
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.runtime import join_graph

if TYPE_CHECKING:
    from telerobot_nodes.doctor.arm import Line
    from telerobot_nodes.nodes.drivers import StandInServer

STYLES = {"ok": "green", "not done": "dim", "warning": "yellow", "failed": "bold red"}

app = typer.Typer(no_args_is_help=True, help="An integrator's commands: his arm file, and a stand-in for his arm.")


@app.callback()
def _arm() -> None:
    """An integrator's commands."""


@app.command()
def check(
    file: Annotated[str, typer.Argument(help="Arm file (YAML), or a robot known by name: arm, panda, ur5.")],
    move: Annotated[bool, typer.Option("--move", help="Move each joint by 0.05 rad and back.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the lines to this file.")] = None,
) -> None:
    """Check an arm file against its arm; nothing is sent to the arm without --move.

    Exit code 0: ok; 1: a warning; 2: something failed.
    """
    join_graph()
    from telerobot_nodes.doctor.arm import CheckSetting, check_arm, exit_code

    lines, console = [], Console()
    for line in check_arm(CheckSetting(file, move)):
        lines.append(line)
        _show(console, line)
    if json_file is not None:
        rows = [{**asdict(line), "result": line.result.value} for line in lines]
        json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    raise typer.Exit(exit_code(lines))


def _show(console: Console, line: Line) -> None:
    """One line, and one below it with what to do."""
    console.print(f"{line.result.value:<9} ", style=STYLES[line.result.value], end="")
    console.print(f"{line.check:<28} {line.found}", markup=False, highlight=False, soft_wrap=True)
    if line.advice:
        console.print(f"{'':<39}{line.advice}", markup=False, highlight=False, soft_wrap=True)


@app.command("stand-in")
def stand_in(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Arm file with driver ros2_control.")],
    rate: Annotated[float, typer.Option(help="Measurements per second [Hz].")] = 500.0,
    latency: Annotated[float, typer.Option(help="Of every message, one way [s].")] = 0.002,
    jitter: Annotated[float, typer.Option(help="Standard deviation of the latency [s].")] = 0.001,
    seed: Annotated[int, typer.Option(help="Of latency's random numbers.")] = 1,
) -> None:
    """Serve the topics that the arm file names, with a simulated arm behind them, until Ctrl-C.

    Type a fault's name to bring it about, such as protective_stop, and release to end it.
    """
    join_graph()  # before rclpy and messages read the environment
    from telerobot_nodes.hardware.ros2_control import StandInSettings
    from telerobot_nodes.nodes.drivers import StandInServer

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    settings = StandInSettings(rate, latency, jitter, seed=seed)
    server = StandInServer(load_robot(str(file)), settings)
    print(f"{file}: stand-in starts in {server.options.namespace}", flush=True)
    threading.Thread(target=_take_orders, args=(server,), daemon=True).start()
    server.run(ended, lambda: print("stand-in ready", flush=True), lambda text: print(text, flush=True))


def _take_orders(server: StandInServer) -> None:
    """Faults by name from standard input."""
    for line in sys.stdin:
        if line.strip():
            print(server.order(line.strip()) or f"{line.strip()}: done", flush=True)
