"""The shipped leaves of compliant motion do the work of their contact tasks, judged by the state of the physics."""

from __future__ import annotations

import dataclasses

import pytest

from telerobot_nodes.tasks import TaskRig, load_task

WORK = [  # task, its step, leaf, what a person types
    ("pushing", "push", "push", {"way": "0.155"}),
    ("door", "open", "hinge", {"hinge_x": "-0.03", "angle": "70"}),
    ("drawer", "slide", "slide", {"way": "0.085"}),
    ("screw", "turn", "screw", {}),
    ("pin_insertion", "insert", "insert", {}),
    ("levelling", "level", "level", {}),
]


@pytest.mark.lengthy
@pytest.mark.brief(1)
@pytest.mark.parametrize(("name", "label", "path", "typed"), WORK, ids=[row[2] for row in WORK])
def test_a_leaf_does_the_work_of_its_task(shipped, name, label, path, typed):
    values = shipped.leaf(path).fill(typed)
    task = load_task(name)
    steps = [dataclasses.replace(step, values=values) if step.label == label else step for step in task.primitives]
    assert steps != list(task.primitives)
    result = TaskRig(dataclasses.replace(task, primitives=tuple(steps)), 0).run()
    assert result.success, (result.verdicts, result.ended)
