"""`telerobot menu list | show | check | run`: the operator's menus and the forms of their leaves, from a shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from telerobot_nodes.cli.macro import RobotName, model_of, run_macro
from telerobot_nodes.cli.operate import join_graph
from telerobot_nodes.cli.primitive import run_and_print
from telerobot_nodes.menus import Leaf, MenuFolder, folder_of, read_menus
from telerobot_nodes.operator.client import pairs
from telerobot_nodes.operator.forms import MenuItem

NOT_DONE = 1

LeafPath = Annotated[str, typer.Argument(help="Leaf, for example compliant_motion/insert, or insert.")]
Fields = Annotated[list[str] | None, typer.Argument(metavar="FIELD=VALUE ...", help="Fields of its form.")]
Folder = Annotated[Path | None, typer.Option(help="Folder of the files; default: ./menus, else the package's own.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

app = typer.Typer(help="Menus of motions, with a form for each.", no_args_is_help=True)


@app.command("list")
def show_all(folder: Folder = None, robot: RobotName = "arm") -> None:
    """Print the menus. Exit code 1: a file cannot be read."""
    menus = _menus(folder, robot)
    print(menus.folder)
    for item in menus.items:
        _print_item(item, 1)
    _finish(menus)


@app.command()
def show(leaf: LeafPath, folder: Folder = None, robot: RobotName = "arm") -> None:
    """Print the form of a leaf: its fields with units, ranges and defaults."""
    found = _menus(folder, robot).leaf(leaf)
    print(f"{found.path}, {'macro' if found.entry.macro else 'primitive'} {found.runs}\n  {found.entry.doc}")
    for field in found.form.fields:
        print(f"  {field.name} = {field.text()}, {field.allowed}  {field.doc}".rstrip())


@app.command()
def check(
    leaf: Annotated[str, typer.Argument(help="Leaf; none: every leaf with its defaults.")] = "",
    values: Fields = None,
    folder: Folder = None,
    robot: RobotName = "arm",
    as_json: AsJson = False,
) -> None:
    """Check leaves as the robot would, and print the values they would send. Nothing moves."""
    menus = _menus(folder, robot)
    leaves = [menus.leaf(leaf)] if leaf else list(menus.leaves.values())
    sent = {found.path: found.fill(pairs(values or [])) for found in leaves}
    if as_json:
        print(json.dumps(sent))
    else:
        for found in leaves:
            _print_sent(found, sent[found.path], whole=bool(leaf))
    _finish(menus, quiet=bool(leaf))


@app.command()
def run(
    leaf: LeafPath,
    values: Fields = None,
    folder: Folder = None,
    robot: RobotName = "arm",
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
    limit: Annotated[float, typer.Option(min=0.1, help="Cancel a primitive after this time [s].")] = 600.0,
    override: Annotated[bool, typer.Option("--override", help="Run a macro although it is not tested.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a leaf on a running graph; Ctrl-C stops the arm. Exit code 0: it succeeded."""
    found = _menus(folder, robot).leaf(leaf)
    sent = found.fill(pairs(values or []))
    if found.entry.macro:
        words = [f"{name}={value}" for name, value in sent.items()]
        run_macro(found.entry.macro, words, found.macro_folder, robot, namespace, override, as_json)
        return
    join_graph()
    from telerobot_nodes.nodes.clients import as_texts

    run_and_print(found.entry.primitive, as_texts(sent), namespace, limit, as_json)


def _menus(folder: Path | None, robot: str) -> MenuFolder:
    return read_menus(folder_of(folder), model_of(robot))


def _print_item(item: MenuItem, depth: int) -> None:
    print(f"{'  ' * depth}{item.name:<{26 - 2 * depth}} {item.doc}")
    for inner in item.items:
        _print_item(inner, depth + 1)


def _print_sent(leaf: Leaf, sent: dict[str, Any], whole: bool) -> None:
    print(f"{leaf.path}  {leaf.runs}" + ("" if whole else f", {len(leaf.form.fields)} fields"))
    if whole:
        for name, value in sent.items():
            print(f"    {name} {value}")


def _finish(menus: MenuFolder, quiet: bool = False) -> None:
    """Print what cannot be read; exit code 1 if something is broken. `quiet`: other files than the leaf's may be."""
    if menus.broken and not quiet:
        for error in menus.broken.values():
            print(f"  {error}")
        raise typer.Exit(NOT_DONE)
