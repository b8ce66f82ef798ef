"""Two arms crossing, as a picture: `python -m telerobot_nodes.bench.two_arms.two_arm_picture --task 15`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from telerobot_nodes.bench.two_arms.two_arm_run import RunOptions, TwoArmRunner
from telerobot_nodes.plotting import CrossingTrace, draw_crossing


def draw(index: int, file: Path) -> dict[str, Any]:
    """Run task `index` of the benchmark and draw it; returns its row. Raises NotInstalledError without OpenGL."""
    runner, trace = TwoArmRunner(RunOptions(turns_every=10**9)), CrossingTrace()

    def sample(running: Any, physics: Any) -> None:
        trace.scene.sample(physics.time, physics.data)
        trace.way.append(running.execution.way)
        trace.pushed.append(any(running.execution.pushed))

    runner.watch = sample
    row = runner.run(index)
    draw_crossing(runner.physics.model, trace, file)
    return row


def main() -> None:
    """Draw `docs/images/two_arms.png`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", type=int, default=1)
    parser.add_argument("--image", type=Path, default=Path("docs/images/two_arms.png"))
    chosen = parser.parse_args()
    print({key: value for key, value in draw(chosen.task, chosen.image).items() if key != "touches"})


if __name__ == "__main__":
    main()
