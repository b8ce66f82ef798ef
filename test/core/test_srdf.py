"""Reading SRDF files: what they disable, what they name, and how one that does not fit is refused."""

import re
import xml.etree.ElementTree as ET

import pytest

from telerobot_nodes.core.robot import find_srdf, load_robot, read_srdf
from telerobot_nodes.errors import ModelError

URDF = """<robot name="two"><link name="base"/><link name="one"/><link name="two"/>
<joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="b" type="revolute"><parent link="one"/><child link="two"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
SRDF = """<robot name="two">
<group name="arm"><chain base_link="base" tip_link="two"/></group>
<group name="wrist"><joint name="b"/></group><group name="all"><group name="arm"/><group name="wrist"/></group>
<group_state name="up" group="arm"><joint name="a" value="0.5"/></group_state>
<group_state name="up" group="wrist"><joint name="b" value="-0.5"/></group_state>
<end_effector name="hand" parent_link="two" group="wrist"/>
<disable_collisions link1="two" link2="base" reason="Never"/></robot>"""


def read(folder, text):
    file = folder / "two.srdf"
    file.write_text(text)
    return read_srdf(file, ET.fromstring(URDF))


def test_everything_it_says_is_read(tmp_path):
    srdf = read(tmp_path, SRDF)
    assert srdf.reason("base", "two") == srdf.reason("two", "base") == "Never"
    assert srdf.reason("base", "one") is None
    assert srdf.groups == {"arm": ("a", "b"), "wrist": ("b",), "all": ("a", "b")}
    assert srdf.states == {"up": {"a": 0.5, "b": -0.5}}
    assert [(e.name, e.parent_link, e.group) for e in srdf.end_effectors] == [("hand", "two", "wrist")]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('<robot name="two">', '<robot name="other">', "SRDF of robot 'other'; the URDF's is 'two'"),
        ('link1="two"', 'link1="three"', "link 'three' does not exist in the URDF"),
        ('<joint name="b"/>', '<joint name="c"/>', "joint 'c' does not exist"),
        ('tip_link="two"', 'tip_link="nowhere"', "no chain of joints leads from link 'base' to link 'nowhere'"),
        ('value="0.5"', 'value="much"', "joint a: 'much' is not a number"),
        ('<group name="arm"/>', '<group name="all"/>', "contains itself"),
        ('<group name="arm"/>', '<group name="leg"/>', "group 'leg' does not exist"),
        ("</robot>", "", "not readable as XML"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(tmp_path, old, new, reason):
    with pytest.raises(ModelError, match=re.escape(reason)):
        read(tmp_path, SRDF.replace(old, new))


def test_it_is_found_beside_the_urdf_and_only_that_of_the_same_robot(tmp_path):
    (tmp_path / "urdf").mkdir()
    (tmp_path / "srdf").mkdir()
    urdf = tmp_path / "urdf" / "two.urdf"
    urdf.write_text(URDF)
    assert find_srdf(urdf) is None
    (tmp_path / "srdf" / "else.srdf").write_text(SRDF.replace('name="two">', 'name="else">', 1))
    assert find_srdf(urdf) is None
    (tmp_path / "srdf" / "named_otherwise.srdf").write_text(SRDF)
    assert find_srdf(urdf).path.name == "named_otherwise.srdf"
    (tmp_path / "srdf" / "two.srdf").write_text(SRDF)
    assert find_srdf(urdf).path.name == "two.srdf"


def test_a_robot_knows_its_srdf_and_its_joints_without_end_stops(tmp_path):
    assert load_robot("panda").srdf.reason("panda_link5", "panda_link7") == "Default"
    urdf = tmp_path / "two.urdf"
    urdf.write_text(URDF.replace('name="b" type="revolute"', 'name="b" type="continuous"'))
    robot = load_robot(str(urdf))
    assert robot.srdf is None
    assert robot.continuous == {"b"}
