"""The graph table as text, Markdown and a Mermaid diagram; `docs/graph.md` is `as_markdown()`."""

from __future__ import annotations

from collections.abc import Sequence

from telerobot_nodes.graph import GRAPHS, NODES, TOPICS, Host, Node, Topic

_HOST_TITLES = {Host.OPERATOR: "operator's host", Host.ROBOT: "robot's host", Host.EITHER: "either host"}
_EVERYWHERE = "diagnostics"  # of every node: drawn, it would hide the rest


def as_text() -> str:
    """Nodes and topics as aligned columns."""
    nodes = [(entry.name, entry.host.value, _policy(entry), entry.doc) for entry in NODES]
    topics = [(entry.name, entry.type, _rate(entry), _crosses(entry), entry.doc) for entry in TOPICS]
    services = [(service.name, service.type, service.doc) for entry in NODES for service in entry.services]
    actions = [(action.name, action.type, action.doc) for entry in NODES for action in entry.actions]
    tables = (nodes, topics, services, actions)
    return "\n".join(line for table in tables for line in (*_columns(table), ""))


def as_mermaid() -> str:
    """Flow chart: nodes by host, arrows by topic, thick arrows across the link."""
    lines = ["flowchart LR"]
    for host in Host:
        lines += [f'  subgraph {host.value}["{_HOST_TITLES[host]}"]']
        lines += [f"    {entry.name}" for entry in NODES if entry.host is host]
        lines += ["  end"]
    for topic in TOPICS:
        if topic.name == _EVERYWHERE:
            continue
        arrow = "==>" if topic.crosses else "-->"
        for source in NODES:
            for target in NODES:
                if topic.name in source.publishes and topic.name in target.subscribes:
                    lines.append(f"  {source.name} {arrow}|{topic.name}| {target.name}")
    return "\n".join(lines) + "\n"


def as_markdown() -> str:
    """The page docs/graph.md."""
    return "\n".join(
        [
            "# The graph",
            "",
            "Made by `make docs` from `telerobot_nodes/graph.py`; not edited by hand. Names are relative to the arm's",
            "namespace. Thick arrows travel between the hosts; every node also publishes `/diagnostics`.",
            "",
            "```mermaid",
            as_mermaid() + "```",
            "",
            "## Nodes",
            "",
            *_table(
                ("node", "host", "if it dies", "what it does"),
                [(f"`{entry.name}`", entry.host.value, _policy(entry), entry.doc) for entry in NODES],
            ),
            "",
            "## Topics",
            "",
            *_table(("topic", "type", "QoS", "rate", "link", "from", "to", "what it carries"), _topic_rows()),
            "",
            "## Services",
            "",
            *_table(
                ("service", "type", "called by", "what it does"),
                [
                    (f"`{service.name}`", f"`{service.type}`", _callers(service.name), service.doc)
                    for entry in NODES
                    for service in entry.services
                ],
            ),
            "",
            "## Actions",
            "",
            *_table(
                ("action", "type", "run by", "what it does"),
                [
                    (f"`{action.name}`", f"`{action.type}`", _runners(action.name), action.doc)
                    for entry in NODES
                    for action in entry.actions
                ],
            ),
            "",
            "## What is started together",
            "",
            *_table(("graph", "nodes, in order"), [(f"`{name}`", ", ".join(nodes)) for name, nodes in GRAPHS.items()]),
            "",
        ]
    )


def _topic_rows() -> list[tuple[str, ...]]:
    return [
        (
            f"`{entry.name}`",
            f"`{entry.type}`",
            str(entry.qos.value),
            _rate(entry),
            _crosses(entry),
            _names([node for node in NODES if entry.name in node.publishes]),
            _names([node for node in NODES if entry.name in node.subscribes]),
            entry.doc,
        )
        for entry in TOPICS
    ]


def _policy(entry: Node) -> str:
    again = f"started again {entry.restarts} times, then " if entry.restarts else ""
    return again + ("everything stops" if entry.required else "the rest goes on")


def _rate(entry: Topic) -> str:
    return f"{entry.rate:g} Hz" if entry.rate else "on event"


def _crosses(entry: Topic) -> str:
    return "crosses" if entry.crosses else ""


def _names(nodes: Sequence[Node]) -> str:
    return "every node" if len(nodes) == len(NODES) else ", ".join(entry.name for entry in nodes)


def _callers(service: str) -> str:
    return _names([entry for entry in NODES if service in entry.calls])


def _runners(action: str) -> str:
    return _names([entry for entry in NODES if action in entry.runs])


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows)]
