"""The command that tries tasks. Views and shells make it, so that no part of a text that is tried is ever done."""

from __future__ import annotations

from telerobot_nodes.errors import InvalidValueError


def trial_of(text: str) -> str:
    """The text that tries all tasks of a text, with or without the word `try` before them.

    Raises InvalidValueError for a text with a closing brace inside: what follows it would not be tried but done.
    """
    words = text.split(None, 1)
    rest = (words[1] if len(words) == 2 and words[0].lower() == "try" else text).strip()
    if rest.startswith("{") and rest.endswith("}"):
        rest = rest[1:-1]
    if "}" in rest:
        raise InvalidValueError("text to try", text, "tasks without a closing brace between them")
    return f"try {{ {rest}\n}}"
