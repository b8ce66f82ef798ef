"""The reference page of the command language, made from the grammar file and its `//:` comments [JPL-RTC].

`python -m telerobot_nodes.rtc.reference > docs/command_language.md`
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from telerobot_nodes.rtc.command_states import diagram
from telerobot_nodes.rtc.grammar import GRAMMAR_FILE, words
from telerobot_nodes.rtc.units import UNITS

_SECTION = re.compile(r"// -+ (.+)")
_RULE = re.compile(r"^[?]?([a-z_]\w*):\s*(.*)$")
_EXAMPLES = """\
grasp module with left_arm maintain avoid-neighbors speed 0.05 guarded unless force > 20 then stop
move free left_arm to neighborhood-of module
pick module and place on dock with left_arm maintain upright speed 0.1 m/s timeout 60 s
turn crank by 360 deg clockwise with left_arm maintain force 8 N unless torque z > 2 Nm then retreat by 20 mm
insert pin into hole with right_arm retry 2 times accept reached or contact
polish plate for 20 s with left_arm maintain force 5 N shared operator x y program z rx ry
grasp module with Right_arm via operator-intervention
done task 3 at grasp-point-of module width = 41 mm
try open door by 70 deg with left_arm
define fetch(thing) as { grasp thing with left_arm; move left_arm to home }; run fetch(module)
halt left_arm"""
_LIFE = """\
Every command ends with one report: succeeded, failed, halted, cancelled or refused. A halt needs no worker and is
answered before anything else; what has been sent is stopped first, what is being written is let finish."""
_HEADER = """\
# The command language

Made from `telerobot_nodes/rtc/commands.lark` by `telerobot_nodes/rtc/reference.py`; a test keeps it current.

Commands are ASCII text. Keywords may be written in any case, hyphenated ones with an underscore. Names are letters,
digits, `_` and `-`; a reserved word is a name in single quotes. Numbers without unit are SI and radians. `#` starts a
comment. Square brackets below mark what may be left out, `...` what may be repeated.
"""


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


def reference_page() -> str:
    """The whole page as Markdown."""
    parts = [_HEADER, "## Examples\n", "```", *_EXAMPLES.splitlines(), "```\n"]
    section = None
    for entry in entries():
        if entry.section != section:
            section = entry.section
            title = section[:1].upper() + section[1:] if section else "A message"
            parts.append(f"## {title}\n\n| word | syntax | meaning |\n|---|---|---|")
        parts.append(f"| {entry.name} | `{entry.syntax.replace('|', '&#124;')}` | {entry.doc} |")
    parts.append("\n## Units\n\n| unit | measures | factor |\n|---|---|---|")
    parts += [f"| {name} | {unit.dimension} | {unit.factor:.6g} |" for name, unit in UNITS.items() if name]
    parts.append(f"\n## The life of a command\n\n{_LIFE}\n\n```mermaid\n{diagram()}```")
    return _spaced(parts)


def _spaced(parts: list[str]) -> str:
    text = "\n".join(parts)
    return re.sub(r"\n+## ", "\n\n## ", text) + "\n"


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


if __name__ == "__main__":
    import sys

    sys.stdout.write(reference_page())
