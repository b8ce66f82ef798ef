"""Status, notices and legend as HTML. Texts come from other machines: every one is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from telerobot_nodes.operator.client import Tone
from telerobot_nodes.operator.console import palette
from telerobot_nodes.operator.view_model import Row

SHOWN_NOTICES = 4

STYLE = """<style>
.tr-banner{margin:2px 10px 6px;padding:9px 12px;border-radius:6px;color:#fff;font-weight:700;font-size:15px;
  letter-spacing:.02em;overflow-wrap:anywhere}
.tr-rows{margin:0 10px;display:grid;grid-template-columns:auto 1fr;gap:2px 12px;font-size:12.5px;line-height:1.35;
  font-variant-numeric:tabular-nums}
.tr-rows .k{color:#8b93a1;white-space:nowrap}
.tr-rows .v{overflow-wrap:anywhere}
.tr-lead{margin:0 10px 4px;font-size:26px;font-weight:700;font-variant-numeric:tabular-nums}
.tr-legend{margin:2px 10px;font-size:12px;display:grid;grid-template-columns:1fr 1fr;gap:2px 10px}
.tr-chip{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px;vertical-align:-1px}
button[style*="color-red"]{min-height:58px;font-size:20px!important;font-weight:800;letter-spacing:.14em}
</style>"""


def banner(row: Row) -> str:
    """The robot's state in one coloured line."""
    colour = palette.BANNERS[row.tone]
    return f'{STYLE}<div class="tr-banner" style="background:{colour}">{escape(row.text)}</div>'


def status(rows: Sequence[Row]) -> str:
    """The status block; the lead stands out."""
    lead = "".join(
        f'<div class="tr-lead" style="color:{palette.TONES[row.tone]}">lead: {escape(row.text)}</div>'
        for row in rows
        if row.label == "lead"
    )
    return lead + _grid(row for row in rows if row.label != "lead")


def notices(rows: Sequence[Row]) -> str:
    """The newest notices with their age."""
    if not rows:
        return _grid([Row("", "nothing to report", Tone.QUIET)])
    return _grid(rows[:SHOWN_NOTICES])


def legend() -> str:
    """What the colours in the scene mean."""
    entries = (
        ("arm, last confirmed", palette.ACTUAL),
        ("arm, estimated now", palette.ESTIMATE),
        ("forward simulation", palette.PREDICTED),
        ("trial path", palette.TRIAL),
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
