"""`telerobot review BAG --play`: the console, driven by a recording. On loopback only; nothing is sent."""

from __future__ import annotations

import os
import time
from pathlib import Path


def play(bag: Path, robot: str, namespace: str | None, port: int, show: bool = True) -> None:
    """Serve the console until Ctrl-C. Raises InvalidValueError or ModelError."""
    from telerobot_nodes.core.robot import load_robot
    from telerobot_nodes.operator.console import STEP_PERIOD, Console, ConsoleSetup
    from telerobot_nodes.operator.playback import PlaybackControls, Player, RecordedGraph
    from telerobot_nodes.operator.recording import BagReader
    from telerobot_nodes.operator.review import arm_prefix, read_events, robot_of
    from telerobot_nodes.operator.scene import ArmShapes, Detail, load_shapes
    from telerobot_nodes.operator.web import open_browser, user_token

    with BagReader(bag) as reader:
        prefix = arm_prefix(reader.topics, namespace, bag)
        model = load_robot(robot or robot_of(reader) or "arm")
        events = read_events(reader, prefix)
        graph = RecordedGraph(reader, prefix, model.joint_names, events)
        shapes = ArmShapes(load_shapes(model, Detail.VISUAL), load_shapes(model, Detail.COLLISION))
        setup = ConsoleSetup(port=port, offered=frozenset(), token=user_token())
        console = Console(graph.client, model, shapes, setup)
        player = Player(reader.duration, [event.time for event in events])
        controls = PlaybackControls(console.gui, player)
        print(f"console: {console.url}", flush=True)
        if show:
            open_browser(console.url, os.environ)
        try:
            while True:
                now = time.monotonic()
                position = controls.step(now)
                graph.show(position)
                console.step(now, position)
                time.sleep(STEP_PERIOD)
        except KeyboardInterrupt:
            pass
        finally:
            console.close()
