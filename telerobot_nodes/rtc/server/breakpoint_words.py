"""What `confirm each step`, `break at`, `clear breakpoints`, `step` and `continue` mean.

Some are for the tasks that follow them in a text, the others for commands under way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from telerobot_nodes.rtc.decision import Breakpoints, CommandRecord
from telerobot_nodes.rtc.language import CommandError, Control, Name, Statement, Trial, did_you_mean
from telerobot_nodes.rtc.skills import Library


def is_for_tasks(word: Statement) -> bool:
    """Whether a word before tasks is meant for them, not for commands under way."""
    if not isinstance(word, Control):
        return False
    scoped = word.name is not None or word.command or word.everything
    return word.verb == "confirm" or (word.verb == "break" and not scoped)


def breakpoints_of(words: Sequence[Statement], tasks: Sequence[Statement]) -> Breakpoints:
    """The breakpoints of the tasks of a text; raises CommandError where a task has no steps to wait for."""
    meant = [word for word in words if isinstance(word, Control) and is_for_tasks(word)]
    confirm = next((word for word in meant if word.verb == "confirm"), None)
    if confirm is not None and not tasks:
        problem = "'confirm each step' stands before the tasks it is meant for"
        raise CommandError(problem, confirm.at, hint="a command under way waits after: step")
    trial = next((task for task in tasks if isinstance(task, Trial)), None)
    if meant and trial is not None:
        raise CommandError("nothing moves in a try: it has no steps to wait for", trial.at)
    return Breakpoints(confirm is not None, frozenset(step.text for word in meant for step in word.steps))


def known_steps(steps: Iterable[Name], library: Library) -> frozenset[str]:
    """The names of breakpoints; raises CommandError for one that is neither a step nor a skill."""
    known = {*library.skills}
    for skill in library.skills.values():
        scripts = (*skill.scripts.values(), *(recovery.steps for recovery in skill.recoveries.values()))
        known |= {step.name for script in scripts for step in script}
    for name in steps:
        odd = next((part for part in name.text.split(".") if part not in known), None)
        if odd is not None:
            raise CommandError(f"no step or skill is called {odd!r}", name.at, hint=did_you_mean(odd, known))
    return frozenset(name.text for name in steps)


def refuse_unreachable(steps: Iterable[Name], records: Sequence[CommandRecord]) -> None:
    """Raise CommandError for a breakpoint that none of the commands has."""
    for name in steps:
        if not any(record.knows_step(name.text) for record in records):
            numbers = ", ".join(str(record.number) for record in records)
            raise CommandError(f"command {numbers} has no step {name.text!r}", name.at)


def refuse_idle(control: Control, records: Sequence[CommandRecord]) -> None:
    """Raise CommandError when a word has no command to act on."""
    if not records:
        raise CommandError("no command is under way", control.at)
    if control.verb == "continue" and not any(record.waits_for_steps for record in records):
        raise CommandError("no command waits for its steps", control.at)
    if control.verb == "clear" and not any(record.breakpoints.names for record in records):
        raise CommandError("there are no breakpoints", control.at)
