"""`telerobot keyboard`: drive the tool from this terminal; `telerobot panel`: the Qt panel."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.cli.operate import fail, join_graph
from telerobot_nodes.errors import NotInstalledError


def command(
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
    direct: Annotated[
        bool, typer.Option("--direct", help="Move the axes that a running command shares, not the plan.")
    ] = False,
) -> None:
    """Drive the tool with the keys of this terminal."""
    join_graph()
    raise typer.Exit(import_module("telerobot_nodes.nodes.clients.keyboard_client").run_keyboard(namespace, direct))


def panel(
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
    picture: Annotated[str, typer.Option(help="Write the panel as a PNG file once the robot is seen, and end.")] = "",
    robot: Annotated[str, typer.Option(help="Robot that the menus are for: arm, panda, ur5, a file.")] = "arm",
    menus: Annotated[
        Path | None, typer.Option(help="Folder of menus; default: ./menus, else the package's own.")
    ] = None,
) -> None:
    """Open the operator's panel as a window: controls, state, halt."""
    try:
        import_module("python_qt_binding.QtWidgets")
    except ImportError as error:
        raise NotInstalledError(
            f"the panel needs Qt 5 ({error}); install it: pip install 'telerobot[panel]', or on a ROS host "
            "apt install ros-jazzy-python-qt-binding"
        ) from error
    if not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        fail("there is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set")
    join_graph()
    run = import_module("telerobot_nodes.nodes.operator.operator_panel").run_panel
    raise typer.Exit(run(namespace, picture, robot, menus))
