"""`telerobot devices`: the input devices of this host, and one of them as the operator's hand on a running graph."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.operator.evdev import (
    Candidate,
    InputFolder,
    MapFolder,
    candidates,
    folder_of,
    is_wanted,
    read_maps,
)
from telerobot_nodes.runtime import node_environment

NOT_FOUND = 1
NODE = "input_device"


def command(
    device: Annotated[
        str, typer.Argument(help="Path, part of the name, or map of a device; none: all, to publish the first usable.")
    ] = "",
    publish: Annotated[
        bool, typer.Option("--publish", help="Drive the arm of a running graph with the device, until Ctrl-C.")
    ] = False,
    namespace: Annotated[str, typer.Option(help="Namespace of the arm to drive, for example left.")] = "",
    maps: Annotated[
        Path | None, typer.Option(help="Folder of map files; default: ./devices, else the package's own.")
    ] = None,
    root: Annotated[
        Path, typer.Option(help="Folder above dev/input and sys/class/input; another than / has recorded devices.")
    ] = Path("/"),
    params: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Parameter file, to publish.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List gamepads, joysticks and 3-D mice of this host, or publish one. Exit code 1: none is usable."""
    folder, found_maps = InputFolder(root), read_maps(folder_of(maps))
    every = candidates(folder, found_maps)
    found = [entry for entry in every if is_wanted(entry, device)]
    if as_json:
        print(json.dumps(_as_json(folder, found_maps, found)))
    else:
        _print(folder, found_maps, found, device)
    if publish:
        _publish(device, namespace, maps, root, params)
    if not any(_usable(entry) for entry in found):
        raise typer.Exit(NOT_FOUND)


def _publish(device: str, namespace: str, maps: Path | None, root: Path, params: Path | None) -> NoReturn:
    """Run the node in this process; a device that is not there yet is waited for."""
    os.environ.update(node_environment(os.environ))  # before rclpy and messages read it
    given = {"device": device, "maps": maps and str(maps), "root": "" if root == Path("/") else str(root)}
    words = [word for name, value in given.items() if value for word in ("-p", f"{name}:={json.dumps(value)}")]
    around = ["-r", f"__ns:=/{namespace.strip('/')}"] if namespace else []
    options = NodeOptions(NODE, params=params, graph="operator", ros_args=("--ros-args", *words, *around))
    code = import_module("telerobot_nodes.nodes.devices.input_device").main(options)
    import_module("telerobot_nodes.nodes.framework").end_process(code)
    raise typer.Exit(code)


def _usable(entry: Candidate) -> bool:
    return entry.fitted is not None and not entry.problem


def _print(folder: InputFolder, maps: MapFolder, found: list[Candidate], wanted: str) -> None:
    for entry in found:
        _print_device(entry)
    if not found:
        what = f"no device is called {wanted!r}" if wanted else "no gamepad, joystick or 3-D mouse"
        print(f"{what} on this host; looked at:")
        for line in folder.looked_at():
            print(f"  {line}")
    for error in maps.broken:
        print(f"not readable: {error}")


def _print_device(entry: Candidate) -> None:
    device, fitted = entry.device, entry.fitted
    print(f"{device.name}  ({device.kind.value}, {device.ids})\n  path     {device.path}")
    print(f"  axes     {' '.join(device.axes) or 'none'}\n  buttons  {' '.join(device.buttons) or 'none'}")
    print(f"  rumble   {'yes' if device.rumbles else 'no'}")
    if fitted is not None:
        print(f"  map      {fitted.map.source.file}: {fitted.map.doc}")
    print(f"  {'usable' if _usable(entry) else f'NOT USABLE: {entry.problem}'}")


def _as_json(folder: InputFolder, maps: MapFolder, found: list[Candidate]) -> dict[str, Any]:
    rows = [
        {
            "name": entry.device.name,
            "path": str(entry.device.path),
            "kind": entry.device.kind.value,
            "ids": entry.device.ids,
            "axes": entry.device.axes,
            "buttons": entry.device.buttons,
            "rumble": entry.device.rumbles,
            "map": entry.fitted.map.source.file if entry.fitted else "",
            "usable": _usable(entry),
            "problem": entry.problem,
        }
        for entry in found
    ]
    broken = [str(error) for error in maps.broken]
    return {"devices": rows, "looked_at": folder.looked_at(), "maps": str(maps.folder), "broken_maps": broken}
