"""The workcell file: what each section becomes."""

import pytest

from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.rtc.skills.resources import Kind
from telerobot_nodes.rtc.skills.workcell_file import read_workcell

TEXT = """\
arms:
  arm: {gripper: hand, speed: 0.5, joint_speed: 1, load: 2, home: [0, 0.1], base: [0, 1, 0, 0, 0, 0, 1]}
cameras: {eye: {}}
tools: [driver, pad]
safe_work_range: all
regions: {all: {low: [-1, -1, 0], high: [1, 1, 2]}}
resources: {computer: {kind: shareable, capacity: 3}, lid: {kind: queued}}
paths: {loop: [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1]}
places: {dock: {pose: [1, 2, 3, 0, 0, 0, 1]}}
objects:
  lid: {pose: [0, 0, 1, 0, 0, 0, 1], frame: dock, mass: 2, round: true, kind: cap}
command_objects: {grasp: {lid: {grasp_points: {rim: [0, 0, 0, 0, 1, 0, 0]}, force: 3}}}
"""


def read(tmp_path, text=TEXT):
    file = tmp_path / "workcell.yaml"
    file.write_text(text)
    return read_workcell(file, frozenset({"grasp"}))


def test_arms_regions_and_paths(tmp_path):
    cell = read(tmp_path)
    arm = cell.arms["arm"]
    assert (arm.name, arm.gripper, arm.home, arm.base[:3]) == ("arm", "hand", (0.0, 0.1), (0.0, 1.0, 0.0))
    assert cell.regions["all"].contains((0.0, 0.0, 1.0))
    assert not cell.regions["all"].contains((0.0, 0.0, 2.1))
    assert [pose[0] for pose in cell.paths["loop"]] == [0.0, 1.0]


def test_the_first_items_of_the_database(tmp_path):
    items = {item.key: item for item in read(tmp_path).items}
    assert (items["lid.pose"].frame, items["dock.pose"].frame) == ("dock", "")
    assert [items[f"lid.{name}"].value for name in ("mass", "round", "kind")] == [2.0, True, "cap"]
    assert [items[f"arm.{name}"].value for name in ("tool", "owner", "holds", "home")] == [
        "driver",
        "program",
        "",
        (0.0, 0.1),
    ]


def test_everything_that_can_be_held_is_a_resource(tmp_path):
    resources = {resource.name: resource for resource in read(tmp_path).resources}
    assert set(resources) == {"arm", "hand", "eye", "lid", "dock", "computer"}
    assert (resources["eye"].kind, resources["dock"].kind) == (Kind.QUEUED, Kind.EXCLUSIVE)
    assert resources["lid"].kind is Kind.QUEUED  # as the file says
    assert resources["computer"].capacity == 3


def test_the_table_and_the_vocabulary(tmp_path):
    cell = read(tmp_path)
    row = cell.command_objects["grasp", "lid"]
    assert (row["force"], row["grasp_points"]) == (3.0, {"rim": (0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)})
    assert (cell.vocabulary.points, cell.vocabulary.tools) == ({"rim"}, {"driver", "pad"})


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("speed: 0.5", "speed: 9", 2, "allowed: 0.001 .. 5"),
        ("load: 2, ", "", 2, "load: the key is missing"),
        ("base: [0, 1, 0, 0, 0, 0, 1]", "base: [0, 1]", 2, "base"),
        ("tools:", "tolls:", 4, "did you mean tools"),
        ("high: [1, 1, 2]", "high: [1, 1]", 6, "three numbers"),
        ("capacity: 3", "capacity: 0", 7, "allowed: 1 .. 1000"),
        ("kind: shareable", "kind: loose", 7, "allowed: exclusive, shareable, queued"),
        ("0, 0, 1, 1, 0, 0, 0, 0, 0, 1]", "0, 0, 1, 1]", 8, "loop"),
        ("mass: 2", "mass: {a: 1}", 11, "mass: .* is no number"),
        ("mass: 2", "mass: .inf", 11, "not finite"),
        ("grasp_points: {rim: [0, 0, 0, 0, 1, 0, 0]}", "grasp_points: 3", 12, "a mapping is needed"),
    ],
)
def test_a_mistake_is_rejected_with_its_line(tmp_path, old, new, line, problem):
    assert old in TEXT
    with pytest.raises(ParameterFileError, match=problem) as caught:
        read(tmp_path, TEXT.replace(old, new, 1))
    assert (caught.value.file, caught.value.line) == ("workcell.yaml", line)


@pytest.mark.parametrize("namespace", ["ri ght", "/right//", "right/", "7up", "a//b", "~/x"])
def test_a_namespace_that_no_graph_can_have_is_refused(tmp_path, namespace):
    text = TEXT.replace("gripper: hand", f'gripper: hand, namespace: "{namespace}"')
    with pytest.raises(ParameterFileError, match=r"workcell\.yaml:2:\d+: .*namespace.*letters, digits"):
        read(tmp_path, text)


def test_a_namespace_may_have_parts(tmp_path):
    assert read(tmp_path, TEXT.replace("gripper: hand", "gripper: hand, namespace: /cell/left")).arms["arm"].namespace
