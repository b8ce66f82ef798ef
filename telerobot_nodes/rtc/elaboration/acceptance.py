"""A script as accepted: every clause acts on a step, and the executive takes every step, before anything moves.

Parameters that only a running step can know are left out here; the binder has the whole primitive checked again.
"""

from __future__ import annotations

from collections.abc import Mapping

from telerobot_nodes.rtc.elaboration.binder import preview
from telerobot_nodes.rtc.elaboration.clauses import check_clauses
from telerobot_nodes.rtc.elaboration.elaborator import Choice, Script, script_of
from telerobot_nodes.rtc.elaboration.environment import Environment, Results
from telerobot_nodes.rtc.elaboration.request import Request
from telerobot_nodes.rtc.skills import Library
from telerobot_nodes.rtc.world import Checks, View


def elaborate(
    request: Request,
    library: Library,
    view: View,
    checks: Checks,
    results: Results | None = None,
    chosen: Mapping[str, Choice] | None = None,
) -> Script:
    """The script of a request. Raises ElaborationError, and BindingError for a step that the executive refuses.

    `chosen`: choices of an execution under way.
    """
    script = script_of(request, library, view, checks, results, chosen)
    check_clauses(script, request, library)
    for planned in script.steps:
        preview(planned, Environment(planned.frame, request, library, view, checks, results or {}, planning=True))
    return script
