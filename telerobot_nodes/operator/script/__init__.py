"""The live script of a command: shown as it runs, saved to a file, shown again."""

from __future__ import annotations

from telerobot_nodes.operator.script.live_script import MARKS, OVER, LiveScript, ScriptLines, line_of
from telerobot_nodes.operator.script.script_log import SavedScript, ScriptLog, ScriptLogError, commands_of, read_scripts

__all__ = [
    "MARKS",
    "OVER",
    "LiveScript",
    "SavedScript",
    "ScriptLines",
    "ScriptLog",
    "ScriptLogError",
    "commands_of",
    "line_of",
    "read_scripts",
]
