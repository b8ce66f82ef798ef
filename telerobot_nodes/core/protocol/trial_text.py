"""The text that tries tasks. Views and shells build it here, so that no part of a tried text is executed."""

from __future__ import annotations

from telerobot_nodes.core.protocol.halt_words import begins_with_halt
from telerobot_nodes.errors import InvalidValueError


def trial_of(text: str) -> str:
    """The text that tries all tasks of a text, with or without the word `try` before them; one that halts as it is.

    Raises InvalidValueError for a closing brace inside the text: what follows it would be executed, not tried.
    """
    if begins_with_halt(text):
        return text
    words = text.split(None, 1)
    rest = (words[1] if len(words) == 2 and words[0].lower() == "try" else text).strip()
    if rest.startswith("{") and rest.endswith("}"):
        rest = rest[1:-1]
    if "}" in rest:
        raise InvalidValueError("text to try", text, "tasks without a closing brace between them")
    return f"try {{ {rest}\n}}"
