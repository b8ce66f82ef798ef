"""Shared control by degrees of freedom in physics: a command's own parameters, with a hand on the axes it shares.

[JPL-RTC] section 2: operator and program jointly. The scene is that of the polishing task, with its plate displaced.
"""

import dataclasses

import pinocchio as pin
import pytest

from telerobot_nodes.bench.rtc.skills import SkillTrials
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.nodes.decision import goals_of
from telerobot_nodes.tasks import Measure, TaskRig, load_task

FORCE = 5.0  # [N] the program keeps
LIMIT = 20.0  # [N] the command's threshold: four times that
TEXT = f"polish plate for 6 s with left_arm maintain force {FORCE:g} N"


def rubbed(text, seed):
    """A run of the polishing task in which the command's own `rub` takes the place of its last contact."""
    trial = SkillTrials().run(text)
    assert trial.works, trial.error
    rub = next(primitive for primitive in trial.primitives if primitive.step == "rub")
    (goal,) = goals_of(rub, load_robot("arm"), pin.SE3.Identity())
    values = {name: value for name, value in goal.values.items() if name not in ("tr_tn_dest", "tr_nom")}
    task = load_task("polishing")
    touch, _, polish, retreat = task.primitives
    polish = dataclasses.replace(polish, primitive=goal.name, values=values, accept=())
    pressed = {"of": "force", "body": "plate", "frame": "plate", "axes": ("z",), "during": ("polish",), "unit": "N"}
    measures = (
        Measure(name="most_force", op="<=", value=LIMIT, reduce="max", smooth=0.05, target=0.0, **pressed),
        Measure(name="force", op="<=", value=2.0, reduce="mean", smooth=0.1, target=-FORCE, **pressed),
        Measure(
            name="stroke", of="position", body="pad", axes=("x", "y"), relative=True, reduce="max", during=("polish",),
            op=">=", value=0.035, unit="m",
        ),
    )  # fmt: skip
    changed = dataclasses.replace(task, primitives=(touch, polish, retreat), success=measures)
    return TaskRig(changed, seed).run()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_hand_moves_its_axes_and_the_program_keeps_the_force(seed):
    result = rubbed(f"{TEXT} shared operator x y program z rx ry", seed)
    assert [end.reason for end in result.ended] == ["TOUCHED", "CONDITIONS", "COMPLETED"]
    assert result.success, result.verdicts


@pytest.mark.slow
def test_without_shared_axes_the_hand_moves_nothing():
    result = rubbed(TEXT, 1)
    stroke = next(verdict for verdict in result.verdicts if verdict.name == "stroke")
    assert not stroke.met
