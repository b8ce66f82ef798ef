"""Status, notices and legend as HTML, texts for the stop bar. Texts come from other machines: each is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from telerobot_nodes.operator.client import HaltStage, Tone
from telerobot_nodes.operator.scene import palette
from telerobot_nodes.operator.view import ConsoleView, Row
from telerobot_nodes.operator.web import BarState

# Rows come and go; what stands below them must not move under the pointer of a person who is about to press it.
STATUS_LINES = 16  # space kept for the status block; more rows make it grow
NOTICE_LINES = 6  # space of the notices, which scroll
SHOWN_NOTICES = 12
LINE = 19  # [px] of a row
IN_BAR = ("lead", "authority", "recording")  # rows that the stop bar shows, not the panel

STYLE = f"""<style>
.tr-status{{min-height:{STATUS_LINES * LINE}px}}
.tr-notices{{height:{NOTICE_LINES * LINE}px;overflow-y:auto}}
.tr-rows{{margin:0 10px;display:grid;grid-template-columns:auto 1fr;gap:2px 12px;font-size:12.5px;line-height:1.35;
  font-variant-numeric:tabular-nums}}
.tr-rows .k{{color:#8b93a1;white-space:nowrap}}
.tr-rows .v{{overflow-wrap:anywhere}}
.tr-legend{{margin:2px 10px;font-size:12px;display:grid;grid-template-columns:1fr 1fr;gap:2px 10px}}
.tr-chip{{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px;vertical-align:-1px}}
</style>"""


def bar(view: ConsoleView, latched: bool, workspace: str = "", doors: dict[str, str] | None = None) -> BarState:
    """State, lead, authority and recording light for the stop bar; `latched`: the robot's e-stop.

    `workspace`, `doors`: of this console, and the addresses of the others'.
    """
    rows = {row.label: row.text for row in view.rows}
    return BarState(
        banner=view.banner.text,
        colour=palette.BANNERS[view.banner.tone],
        **{name: rows.get(name, "not known") for name in IN_BAR},
        resumable=view.controls.halt is not HaltStage.NONE,
        latched=latched,
        form=view.light.value,
        light=palette.LIGHTS[view.light],
        workspace=workspace,
        doors=doors or {},
    )


def status(rows: Sequence[Row]) -> str:
    """The status block, without what the stop bar shows."""
    grid = _grid(row for row in rows if row.label not in IN_BAR)
    return f'{STYLE}<div class="tr-status">{grid}</div>'


def notices(rows: Sequence[Row]) -> str:
    """The notices with their age, newest first."""
    grid = _grid(rows[:SHOWN_NOTICES] or [Row("", "nothing to report", Tone.QUIET)])
    return f'<div class="tr-notices" tabindex="0">{grid}</div>'


def legend() -> str:
    """What the colours in the scene mean."""
    entries = (
        ("arm, last confirmed", palette.ACTUAL),
        ("arm, estimated now", palette.ESTIMATE),
        ("forward simulation", palette.PREDICTED),
        ("trial path", palette.TRIAL),
        ("simulated or practised motion", palette.MOTION),
        ("executed", palette.EXECUTED),
        ("committed stretch", palette.COMMITTED),
        *palette.TIMINGS,
        ("another's plan", palette.OTHER),
        ("conflict ahead", palette.CONFLICT),
        ("obstacle", palette.OBSTACLE),
    )
    chips = (
        f'<div><span class="tr-chip" style="background:{palette.css(colour)}"></span>{escape(text)}</div>'
        for text, colour in entries
    )
    return f'<div class="tr-legend">{"".join(chips)}</div>'


def _grid(rows: Iterable[Row]) -> str:
    cells = (
        f'<div class="k">{escape(row.label)}</div>'
        f'<div class="v" style="color:{palette.TONES[row.tone]}">{escape(row.text)}</div>'
        for row in rows
    )
    return f'<div class="tr-rows">{"".join(cells)}</div>'
