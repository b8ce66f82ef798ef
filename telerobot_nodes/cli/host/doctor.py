"""`telerobot doctor`: what may keep a graph from running well on this host, and what to do about it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from telerobot_nodes.doctor import Finding, Verdict, examine
from telerobot_nodes.errors import InvalidValueError

ROLES = ("robot", "operator")
STYLES = {Verdict.OK: "green", Verdict.CARE: "yellow", Verdict.WRONG: "bold red"}
EXIT_WRONG = 1


def command(
    folder: Annotated[Path, typer.Option(help="Folder of recordings and journals, to be checked.")] = Path(),
    hosts: Annotated[Path | None, typer.Option(help="Hosts file, to be checked.")] = None,
    role: Annotated[str, typer.Option(help="Role of this host in it: robot or operator.")] = "robot",
    host: Annotated[str, typer.Option(help="Name of this host in it, where several have the role.")] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the findings to this file.")] = None,
) -> None:
    """Examine this host; changes nothing. Exit code 1: something is wrong."""
    if role not in ROLES:
        raise InvalidValueError("role", role, f"allowed: {', '.join(ROLES)}")
    findings, console = [], Console()
    for finding in examine(folder.absolute(), hosts, role, host):
        findings.append(finding)
        _show(console, finding)
    if json_file is not None:
        rows = [{**asdict(finding), "verdict": finding.verdict.value} for finding in findings]
        json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    raise typer.Exit(EXIT_WRONG if any(finding.verdict is Verdict.WRONG for finding in findings) else 0)


def _show(console: Console, finding: Finding) -> None:
    """One line, and one below it with what to do."""
    console.print(f"{finding.verdict.value:<9} ", style=STYLES[finding.verdict], end="")
    console.print(f"{finding.check:<14} {finding.found}", markup=False, highlight=False, soft_wrap=True)
    if finding.advice:
        console.print(f"{'':<25}{finding.advice}", markup=False, highlight=False, soft_wrap=True)
