"""The Qt panel on the running graph: widgets clicked, and what the robot did; a picture of it."""

from functools import partial

import pytest
from qt_panel import application, until

pytest.importorskip("python_qt_binding.QtWidgets", exc_type=ImportError)  # before a graph is started for nothing

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(300),
    pytest.mark.timing("the robot's states arrive 20 times a second"),
]


@pytest.fixture(scope="module")
def session(demo_graph):
    """A panel connected to the demo graph."""
    application()
    from telerobot_nodes.motion.parameters import KINDS
    from telerobot_nodes.nodes.clients import open_robot
    from telerobot_nodes.nodes.operator.operator_panel import PanelSession
    from telerobot_nodes.operator.panel import OperatorPanel

    panel = OperatorPanel(tuple(KINDS))
    panel.resize(460, 820)
    panel.show()
    session = PanelSession(panel, partial(open_robot, "", "panel"))
    session.panel = panel
    assert until(lambda: session.robot is not None)
    yield session
    session.close()


def find(session, name):
    from python_qt_binding.QtWidgets import QWidget

    return session.panel.findChild(QWidget, name)


def test_a_halt_pressed_is_confirmed_by_the_robot_and_shown_and_resumed(session):
    ready = session.robot.state
    assert ready.age is not None
    find(session, "halt").click()
    assert until(lambda: session.robot.state.mode.name == "HALTED")
    assert until(lambda: find(session, "banner").text().startswith("HALTED"))
    assert until(lambda: "halt confirmed" in find(session, "notices").text())

    def resumed():
        find(session, "resume").click()
        return until(lambda: session.robot.state.mode.name != "HALTED", 3.0)

    assert any(resumed() for _ in range(10))


def test_controls_change_the_queue_and_show_what_is_in_force(session):
    find(session, "clutch").click()
    assert until(lambda: not session.robot.state.queue.time_clutch)
    assert until(lambda: not find(session, "clutch").isChecked())
    find(session, "clutch").click()
    assert until(lambda: session.robot.state.queue.time_clutch)
    find(session, "ratio").setValue(2.0)
    assert until(lambda: session.robot.state.queue.time_ratio == 2.0)
    session.robot.ratio(1.0)
    find(session, "ratio").clearFocus()
    assert until(lambda: find(session, "ratio").value() == 1.0)


def test_a_text_is_answered_and_a_primitive_reports_its_end(session):
    answers = find(session, "answers")
    find(session, "text").setText("show left_arm")
    find(session, "run").click()
    assert until(lambda: "answered: left_arm" in answers.toPlainText())
    find(session, "primitive").setCurrentText("gcm")
    find(session, "values").setText("comply_vect=[1,0,0,0,0,0] sel_vect_fc=[1,0,0,0,0,0]")
    find(session, "start").click()
    assert until(lambda: "gcm refused" in answers.toPlainText())
    find(session, "values").setText("not a pair")
    find(session, "start").click()
    assert until(lambda: "allowed: key=value" in answers.toPlainText())


def test_the_picture_shows_state_lead_and_authority(session, tmp_path):
    file = tmp_path / "panel.png"
    assert until(lambda: "(here)" in find(session, "authority").text())
    assert session.panel.grab().save(str(file))
    assert file.stat().st_size > 10_000
