"""`telerobot arm stand-in FILE`: what an integrator needs before his arm is there, and when it is."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.runtime import join_graph

app = typer.Typer(no_args_is_help=True, help="An integrator's commands: his arm file, and a stand-in for his arm.")


@app.callback()
def _arm() -> None:
    """An integrator's commands."""


@app.command("stand-in")
def stand_in(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Arm file with driver ros2_control.")],
    rate: Annotated[float, typer.Option(help="Measurements per second [Hz].")] = 500.0,
    latency: Annotated[float, typer.Option(help="Of every message, one way [s].")] = 0.002,
    jitter: Annotated[float, typer.Option(help="Standard deviation of the latency [s].")] = 0.001,
    seed: Annotated[int, typer.Option(help="Of latency's random numbers.")] = 1,
) -> None:
    """Serve the topics that the arm file names, with a simulated arm behind them, until Ctrl-C."""
    join_graph()  # before rclpy and messages read the environment
    from telerobot_nodes.hardware.ros2_control import StandInSettings
    from telerobot_nodes.nodes.drivers import StandInServer

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    settings = StandInSettings(rate, latency, jitter, seed=seed)
    server = StandInServer(load_robot(str(file)), settings)
    print(f"{file}: stand-in starts in {server.options.namespace}", flush=True)
    server.run(ended, lambda: print("stand-in ready", flush=True), lambda text: print(text, flush=True))
