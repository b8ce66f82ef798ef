"""Whatever fails, whenever it is halted: the database claims nothing that no report confirmed [JPL-RTC 5]."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.rtc.decision.command_states import State
from telerobot_nodes.rtc.world import Validity

SUCCESS = ("contact", "gripped", "opened", "found")
DISTURBS = ("touch_1", "touch_2", "close", "let_go")  # steps that may move the module
FAULTS = ["missed", "slip", "collision", "sensor_loss", "timeout", "empty", "gripped_wrong", "blocked", "refused"]
FAULTS += ["nonsense", "estop", "silent", "link_loss", "until", None]
STEPS = ["grasp_init", "to_approach", "move_in", *DISTURBS[:2], "to_middle", *DISTURBS[2:], "raise", "over", "down"]
STEPS += ["look_again", "leave"]
TEXTS = [
    "grasp module with left_arm",
    "grasp module with left_arm retry 2",
    "pick module and place on dock with left_arm",
    "grasp module with left_arm until force > 20 accept missed or slip or empty",
    "pick module and place on dock with left_arm accept missed or timeout or 'collision' or blocked or slip",
    "pick module and place on dock with left_arm until force > 20",
]
WORDS = ["halt", "cancel all", "halt left_arm"]


def witnessed(harness):
    """A cell that looks at the database after every message."""

    class Witness(harness.Cell):
        def __init__(self, *args, **options):
            self.confirmed_hold = self.doubtful = False
            self.joints_told = []
            self.looks = 0
            super().__init__(*args, **options)
            report = self.interface.report
            self.interface.report = lambda said, now: (self.received(said), report(said, now))[1]

        def measure(self, arm):
            if arm == "left_arm":
                self.joints_told.append(tuple(self.executor.joints[arm].tolist()))
            super().measure(arm)

        def received(self, report):
            primitive = next(p for p in self.executor.sent if p.number == report.primitive)
            step = primitive.step.rpartition(".")[2]
            if report.joints and primitive.subsystem == "left_arm":
                self.joints_told.append(report.joints)
            width = abs(report.readings.get("width", 9.0) - 0.04) < 0.008
            gripped = primitive.executive == "compliant_grasp" and report.outcome == "gripped" and width
            if gripped or report.outcome == "found":
                self.doubtful = False
            elif step in DISTURBS and (report.outcome not in SUCCESS or primitive.executive == "compliant_grasp"):
                self.doubtful = True
            if primitive.executive in ("compliant_grasp", "free_grasp"):
                self.confirmed_hold = gripped or (self.confirmed_hold and report.outcome != "opened")

        def _check(self):
            super()._check()
            if any(record.state in (State.ANALYSING, State.SETTLING) for record in self.unit.commands.values()):
                return  # a report is being written down
            self.looks += 1
            view = self.database.view
            holds, pose = view.item("left_arm.holds"), view.item("module.pose")
            if holds.validity is Validity.VALID and holds.value == "module":
                assert self.confirmed_hold
            if pose.validity is Validity.VALID:
                assert not self.doubtful
                assert pose.frame != "left_arm" or self.confirmed_hold
            if view.has("left_arm.joints") and view.item("left_arm.joints").validity is Validity.VALID:
                assert view.item("left_arm.joints").value in self.joints_told

    return Witness


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(TEXTS),
    st.dictionaries(st.sampled_from(STEPS), st.lists(st.sampled_from(FAULTS), min_size=1, max_size=3), max_size=4),
    st.none() | st.tuples(st.floats(0.0, 25.0), st.sampled_from(WORDS)),
)
@pytest.mark.lengthy
def test_the_database_never_claims_what_no_report_has_confirmed(harness, library, config, text, faults, word):
    cell = witnessed(harness)(library, config, faults=faults)
    if word is not None:
        cell.at(word[0], lambda: cell.say(word[1]))
    report = cell.run(text)
    assert cell.looks > 3
    assert not any(item.validity is Validity.BUSY for item in cell.database.view.query())
    if report.outcome == "succeeded" and text.startswith("grasp") and "accept" not in text:
        assert cell.confirmed_hold
        assert cell.database.view.read("left_arm.holds") == "module"


@pytest.mark.parametrize(("step", "fault"), [("close", "slip"), ("close", "empty"), ("touch_2", "missed")])
def test_the_witness_sees_what_is_doubtful(harness, library, config, step, fault):
    cell = witnessed(harness)(library, config, faults={step: 3 * [fault]})
    assert cell.run("grasp module with left_arm").outcome == "failed"
    assert cell.doubtful
