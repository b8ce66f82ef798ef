"""`telerobot macro list | show | check`: the operator's macros, without running them."""

from __future__ import annotations

import json
from typing import Any

import typer

from telerobot_nodes.cli.macro import editing, learning, running
from telerobot_nodes.cli.macro.words import AsJson, Folder, Name, RobotName, Values, arguments_of, macros_of, model_of
from telerobot_nodes.macros import BoundStep, Macro, check_macro

NOT_DONE = 1

app = typer.Typer(help="Named sequences of primitives, texts and macros, with parameters.", no_args_is_help=True)


@app.command("list")
def show_all(folder: Folder = None) -> None:
    """Print every macro of the folder. Exit code 1: a file cannot be read."""
    macros = macros_of(folder)
    print(macros.folder)
    for name, macro in macros.macros.items():
        print(f"  {name:<20} version {macro.version}, {macro.motion}: {macro.doc}")
    for error in macros.broken.values():
        print(f"  {error}")
    raise typer.Exit(NOT_DONE if macros.broken else 0)


@app.command()
def show(name: Name, folder: Folder = None) -> None:
    """Print a macro with its parameters and steps."""
    macros = macros_of(folder)
    macro = macros.get(name)
    print(f"{name}, version {macro.version}, {macro.motion}, {macros.fingerprint(name)[:12]}\n  {macro.doc}")
    for parameter in macro.parameters.values():
        default = " ".join(f"{value:g}" for value in parameter.default)
        print(f"  {parameter.name} = {default} {parameter.unit}, {parameter.allowed}  {parameter.doc}".rstrip())
    for line in _lines(macro):
        print(line)


@app.command()
def check(
    name: Name, values: Values = None, folder: Folder = None, robot: RobotName = "arm", as_json: AsJson = False
) -> None:
    """Check every step as the robot would, and print its numbers. Nothing moves."""
    macros, arguments = macros_of(folder), arguments_of(values)
    steps = check_macro(macros, name, model_of(robot), arguments)
    if as_json:
        print(json.dumps({"macro": name, "hash": macros.fingerprint(name), "steps": [_plain(step) for step in steps]}))
        return
    for step in steps:
        print(f"{step.label}  {step.step.primitive or step.text}")
        for key, value in step.values.items():
            print(f"    {key} {value}")


app.command()(running.test)
app.command()(running.run)
app.command()(running.runs)
app.command()(learning.learn)
app.command()(editing.edit)


def _lines(macro: Macro) -> list[str]:
    lines = []
    for number, step in enumerate(macro.steps, 1):
        what = step.primitive or step.macro or step.text
        again = f", {step.repeat} times" if step.repeat > 1 else ""
        accepts = f", accepts {', '.join(step.accept)}" if step.accept else ""
        lines.append(f"  {number}. {step.name}: {what}{again}{accepts}")
    return lines


def _plain(step: BoundStep) -> dict[str, Any]:
    return {"label": step.label, "primitive": step.step.primitive, "text": step.text, "values": dict(step.values)}
