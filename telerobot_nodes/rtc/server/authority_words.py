"""What `request ARM` and `grant ARM to AGENT` mean for a sender: who may say them, and the tasks they become.

A sender acts for an agent of the workcell. Programs hold an arm in turn by the database alone; between programs and the
operator it goes by the plan's authority, with the skills `trade` and `return` [JPL-RTC section 2].
"""

from __future__ import annotations

from telerobot_nodes.core.protocol import role_of
from telerobot_nodes.rtc.language import CommandError, Control, Name, Task, did_you_mean
from telerobot_nodes.rtc.skills import Workcell
from telerobot_nodes.rtc.world import Validity, View

OPERATOR, PROGRAM = "operator", "program"
PEOPLE = frozenset(("operator", "console", "shell", "terminal"))  # roles of the operator's own programs


def agent_of(sender: str, workcell: Workcell) -> str:
    """The agent a sender acts for: the one that its role names, the operator for a person, else the program."""
    role = role_of(sender)
    return OPERATOR if role in PEOPLE else role if role in workcell.vocabulary.agents else PROGRAM


def transfer(sender: str, control: Control, workcell: Workcell, view: View) -> tuple[Task, ...]:
    """The tasks that give an arm to the agent meant; raises CommandError when the sender may not say so."""
    name = control.name.text if control.name else ""
    arm = workcell.vocabulary.find(name, "arms")
    if arm is None:
        raise CommandError(f"no arm is called {name!r}", control.at, hint=did_you_mean(name, workcell.arms))
    agent, key = agent_of(sender, workcell), f"{arm}.owner"
    owner = str(view.read(key, Validity.SUSPECT)) if view.has(key) else PROGRAM
    to = agent if control.agent is None else workcell.vocabulary.find(control.agent.text, "agents")
    if to is None:
        hint = did_you_mean(control.agent.text if control.agent else "", workcell.vocabulary.agents)
        raise CommandError("no such agent", control.agent.at if control.agent else control.at, hint=hint)
    if to == owner:
        raise CommandError(f"{to} has {arm} already", control.at)
    if control.verb == "grant" and agent not in (owner, OPERATOR):
        raise CommandError(f"{owner} has {arm}; {agent} cannot grant it", control.at)
    if control.verb == "request" and agent != OPERATOR and owner not in (PROGRAM, OPERATOR):
        raise CommandError(f"{owner} has {arm}, and alone can grant it", control.at)
    return _tasks(Name(arm, control.at), owner, to)


def _tasks(arm: Name, owner: str, to: str) -> tuple[Task, ...]:
    """By way of the program, which the plan's authority knows."""
    tasks = []
    if owner == OPERATOR:
        tasks.append(Task("return", target=arm))
    elif owner != PROGRAM:
        tasks.append(Task("grant", target=arm, option=PROGRAM))
    if to == OPERATOR:
        tasks.append(Task("trade", target=arm))
    elif to != PROGRAM:
        tasks.append(Task("grant", target=arm, option=to))
    return tuple(tasks)
