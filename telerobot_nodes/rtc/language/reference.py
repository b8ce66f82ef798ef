"""The documented rules of the command language, read from the grammar file and its `//:` comments [JPL-RTC]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from telerobot_nodes.rtc.language.grammar import GRAMMAR_FILE, words

_SECTION = re.compile(r"// -+ (.+)")
_RULE = re.compile(r"^[?]?([a-z_]\w*):\s*(.*)$")


@dataclass(frozen=True)
class Entry:
    """One documented rule."""

    section: str
    name: str
    doc: str
    syntax: str


def entries() -> tuple[Entry, ...]:
    """The documented rules in the order of the grammar file."""
    found: list[Entry] = []
    section, doc = "", ""
    lines = GRAMMAR_FILE.read_text(encoding="ascii").splitlines()
    for number, line in enumerate(lines):
        if heading := _SECTION.match(line):
            section = heading.group(1)
        elif line.startswith("//:"):
            doc = (doc + " " + line[3:].strip()).strip()
        elif doc and (rule := _RULE.match(line)):
            body = [rule.group(2)]
            for more in lines[number + 1 :]:
                if not more.startswith(" "):
                    break
                body.append(more.strip())
            found.append(Entry(section, rule.group(1).strip("_"), doc, _readable(" ".join(body))))
            doc = ""
    return tuple(found)


def explain(word: str) -> str:
    """Doc and syntax of one word, or an empty string."""
    entry = next((entry for entry in entries() if entry.name == word.lower()), None)
    return f"{entry.syntax}\n{entry.doc}" if entry else ""


def _readable(body: str) -> str:
    text = re.sub(r'"([^"]+)"i?', r"\1", body)
    text = re.sub(r"\s*->\s*\w+", "", text)
    text = re.sub(r"\b_?[A-Z][A-Z_]*\b", lambda match: words().get(match.group(0), match.group(0)), text)
    text = re.sub(r"\b_(\w+)", r"\1", text)
    text = re.sub(r"\b(by|for)_?\b(?=\?)", lambda match: f"{match.group(1)} quantity", text)
    text = re.sub(r"relation_(\w+)", r"\1", text)
    text = re.sub(r"(\w+ quantity|\w+|\([^()]*\))\?", r"[\1]", text)
    text = re.sub(r"\[\(([^()]*)\)\]", r"[\1]", text)
    text = re.sub(r"(\w+|\([^()]*\))[*+]", r"\1 ...", text)
    text = re.sub(r"(?<= )([;,=-])\?|\(([,])\?", lambda m: f"[{m.group(1)}]" if m.group(1) else "([,]", text)
    return text.replace("_ ", " ").strip()
