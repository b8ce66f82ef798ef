"""The channels of the link that requests and answers cross by: like crossing topics, but no node publishes them."""

from __future__ import annotations

from telerobot_nodes.graph import Crossing, Order, Priority, Qos, Topic

MOST_REQUEST = 1_000_000  # [B]
MOST_STOP = 4_000  # [B]
MOST_ANSWER = 60_000  # [B]
LATE = 30.0  # [s] for a large one over a thin link; after a cut, what withdraws it comes first

REQUESTS = Topic(
    "requests",
    "",
    Qos.COMMAND,
    "requests of operators, in parts that are asked for again",
    crosses=Crossing(Priority.OPERATIONS, Order.EACH, size=MOST_REQUEST, most=200.0, late=LATE, moves=True),
)
CHECKS = Topic(
    "requests/checks",
    "",
    Qos.COMMAND,
    "which requests are open",
    crosses=Crossing(Priority.OPERATIONS, size=MOST_STOP, most=20.0, late=5.0),
)
STOPS = Topic(
    "requests/stops",
    "",
    Qos.COMMAND,
    "what ends a request at the robot, and requests that stop the arm",
    crosses=Crossing(Priority.HALT, size=MOST_STOP, most=100.0),
)
ANSWERS = Topic(
    "requests/answers",
    "",
    Qos.COMMAND,
    "states, progress and ends of requests",
    crosses=Crossing(Priority.STATE, size=MOST_ANSWER, most=400.0),
)

# whether it leads from the operator to the robot
CHANNELS = {REQUESTS: True, CHECKS: True, STOPS: True, ANSWERS: False}
