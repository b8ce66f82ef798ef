"""A reviewed run as one HTML page that needs no other file: figures, pictures, one timeline of events."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from telerobot_nodes.operator.review.report import summary_lines
from telerobot_nodes.operator.review.review import Review
from telerobot_nodes.operator.review.run_record import Event

MOST_EVENTS = 5000  # on the page; all are in events.csv


def html_page(found: Review, pictures: Mapping[str, bytes]) -> str:
    """The page; `pictures`: PNG by title. Texts come from other machines: each is escaped."""
    run, summary = found.run, found.summary
    events = run.events[:MOST_EVENTS]
    left = len(run.events) - len(events)
    page = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=escape(f"Run {Path(*run.path.parts[-2:])}"),
        verdict="as planned" if summary.passed else "NOT as planned",
        tone="good" if summary.passed else "",
        about=escape(f"{summary.bag}: robot {summary.robot}, {summary.duration_s:.1f} s"),
        pictures="".join(_picture(title, data) for title, data in pictures.items()),
        figures="".join(_row(name, text) for name, text in summary_lines(summary)),
        kinds="".join(_box(kind, count) for kind, count in Counter(event.kind.value for event in events).items()),
        events="".join(map(_event, events)),
        more=f"{left} more events: telerobot review --csv" if left else "",
    )


def _picture(title: str, data: bytes) -> str:
    source = f"data:image/png;base64,{b64encode(data).decode()}"
    return f'<h2>{escape(title)}</h2><img alt="{escape(title)}" src="{source}">'


def _row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _box(kind: str, count: int) -> str:
    return f'<label><input type="checkbox" value="{escape(kind)}" checked> {escape(kind)} ({count})</label>'


def _event(event: Event) -> str:
    cells = (f"{event.time:.2f}", event.source, event.kind.value, event.text)
    return _row(*cells).replace("<tr>", f'<tr data-kind="{escape(event.kind.value)}">', 1)
