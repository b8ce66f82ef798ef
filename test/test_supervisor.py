"""The supervisor with stand-in processes in place of the nodes: start, watch, stop."""

import os
import signal
import threading

import pytest
from supervised import LIVES, PATIENCE, ROBOT, alive, stand_in, wait_until

from telerobot_nodes.core.config import DISCOVERY, PROFILES, STATE_VARIABLE, share_path
from telerobot_nodes.graph import LAST
from telerobot_nodes.runtime import GraphOptions, Supervisor, node_environment
from telerobot_nodes.runtime.node_events import Change

pytestmark = pytest.mark.system  # of processes; what they wait for is timed


class Seen:
    """Records events and lines, and lets a test wait for them."""

    def __init__(self):
        self.events, self.lines = [], []
        self._change = threading.Condition()

    def on_event(self, event):
        with self._change:
            self.events.append(event)
            self._change.notify_all()

    def on_line(self, name, line):
        with self._change:
            self.lines.append((name, line))
            self._change.notify_all()

    def of(self, node, change):
        return [event for event in self.events if event.node == node and event.change is change]

    def wait_for(self, predicate):
        with self._change:
            assert self._change.wait_for(predicate, PATIENCE), (self.events, self.lines)


@pytest.fixture
def seen():
    return Seen()


@pytest.fixture
def make(seen):
    """Makes supervisors that are stopped after the test."""
    made = []

    def build(graph="robot", grace=1.0, command=None, without=(), **scripts):
        supervisor = Supervisor(
            GraphOptions(graph, without=without),
            on_event=seen.on_event,
            on_line=seen.on_line,
            command=command or stand_in(**scripts),
            grace=grace,
        )
        made.append(supervisor)
        return supervisor

    yield build
    for supervisor in made:
        supervisor.stop()


def test_nodes_are_started_in_the_order_of_the_table(make, seen):
    supervisor = make()
    supervisor.start()
    assert supervisor.wait_ready(PATIENCE)
    started = [event.node for event in seen.events if event.change is Change.STARTED]
    assert sorted(started) == sorted(ROBOT)
    by_start = sorted(ROBOT, key=supervisor.pid)
    assert by_start[:-2] == [name for name in ROBOT if name not in LAST]
    assert set(by_start[-2:]) == LAST
    assert supervisor.stop() == 0


def test_the_real_time_nodes_start_when_the_others_are_ready_or_have_ended(make, seen, tmp_path, monkeypatch):
    monkeypatch.setattr("telerobot_nodes.runtime.supervisor.PATIENCE", 1e6)  # [s]
    go = tmp_path / "go"
    os.mkfifo(go)
    script = f'print("loading", flush=True); open({str(go)!r}).read(); ' + LIVES
    supervisor = make(plan_executor=script, bag_recorder="sys.exit(3)")
    supervisor.start()
    seen.wait_for(lambda: ("plan_executor", "loading") in seen.lines)
    seen.wait_for(lambda: len(seen.of("bag_recorder", Change.ENDED)) == 4)
    seen.wait_for(lambda: set(supervisor.waiting_for()) == {"bag_recorder", "plan_executor", *LAST})
    assert not any(seen.of(name, Change.STARTED) for name in LAST)
    go.write_text("")
    seen.wait_for(lambda: all(seen.of(name, Change.READY) for name in LAST))
    order = [(event.node, event.change) for event in seen.events]
    loaded = order.index(("plan_executor", Change.READY))
    assert all(order.index((name, Change.STARTED)) > loaded for name in LAST)
    assert supervisor.stop() == 0


def test_readiness_is_what_the_node_says_and_nothing_else(make, seen):
    script = 'print("telerobot: someone_else ready", flush=True); print("almost ready", flush=True); time.sleep(600)'
    supervisor = make(plan_executor=script)
    supervisor.start()
    seen.wait_for(lambda: ("plan_executor", "almost ready") in seen.lines)
    assert not supervisor.wait_ready(0.1)
    assert "plan_executor" in supervisor.waiting_for()


def test_death_of_a_required_node_stops_everything_and_is_named(make, seen):
    script = 'print("telerobot: gcmsf_control ready", flush=True); sys.exit(7)'
    supervisor = make(gcmsf_control=script)
    supervisor.start()
    assert supervisor.wait(PATIENCE)
    assert supervisor.stop() == 1
    assert (supervisor.failure.node, supervisor.failure.code) == ("gcmsf_control", 7)
    assert not any(alive(supervisor.pid(name)) for name in ROBOT)


def test_a_required_node_that_ends_with_code_0_has_died_too(make):
    supervisor = make(gcmsf_control="sys.exit(0)")
    supervisor.start()
    assert supervisor.wait(PATIENCE)
    assert supervisor.stop() == 1
    assert supervisor.failure.code == 0


def test_an_optional_node_that_is_out_of_restarts_leaves_the_rest_running(make, seen):
    supervisor = make(bag_recorder="sys.exit(3)")
    supervisor.start()
    seen.wait_for(lambda: len(seen.of("bag_recorder", Change.ENDED)) == 4)
    seen.wait_for(lambda: all(seen.of(name, Change.READY) for name in ROBOT[1:]))
    assert not supervisor.wait(0.2)
    assert all(alive(supervisor.pid(name)) for name in ROBOT[1:])
    assert supervisor.stop() == 0


def test_a_node_is_started_again_as_often_as_the_table_allows(make, seen):
    supervisor = make("operator", operator_input="sys.exit(4)")
    supervisor.start()
    seen.wait_for(lambda: len(seen.of("operator_input", Change.ENDED)) == 4)
    assert len(seen.of("operator_input", Change.STARTED)) == 4
    assert len(seen.of("operator_input", Change.RESTARTING)) == 3
    assert supervisor.failure is None
    assert supervisor.stop() == 0


def test_a_required_node_that_is_out_of_restarts_stops_everything(make, seen):
    supervisor = make("demo", link_emulator="sys.exit(5)")
    supervisor.start()
    assert supervisor.wait(PATIENCE)
    assert supervisor.stop() == 1
    assert supervisor.failure.node == "link_emulator"
    assert len(seen.of("link_emulator", Change.STARTED)) == 4
    (last,) = seen.of("link_emulator", Change.GIVEN_UP)
    assert str(last) == "link_emulator ended with exit code 5, after 3 restarts in 60 s"


def test_a_node_that_refuses_its_first_start_is_not_started_again(make, seen):
    supervisor = make(gcmsf_control="sys.exit(2)")
    supervisor.start()
    assert supervisor.wait(PATIENCE)
    assert supervisor.stop() == 1
    assert len(seen.of("gcmsf_control", Change.STARTED)) == 1


def test_a_node_that_was_ready_and_refuses_its_next_start_gets_another(make, seen, tmp_path):
    """What it needs may come back: room on a disk."""
    script = f"""
with open({str(tmp_path / "starts")!r}, "a+") as file:
    file.write("x")
    file.seek(0)
    starts = len(file.read())
if starts == 2:
    sys.exit(2)
print("telerobot: gcmsf_control ready", flush=True)
if starts == 1:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(600)
"""
    supervisor = make(gcmsf_control=script)
    supervisor.start()
    seen.wait_for(lambda: len(seen.of("gcmsf_control", Change.READY)) == 2)
    first, second = seen.of("gcmsf_control", Change.RESTARTING)
    assert str(first) == "gcmsf_control ended by signal 9; it is started again, time 1 in 60 s"
    assert (second.code, second.restarts) == (2, 2)
    assert supervisor.wait_ready(PATIENCE)
    assert supervisor.stop() == 0


def test_the_nodes_get_the_state_folder_which_outlives_them(seen, tmp_path):
    script = f"open(os.path.join(os.environ[{STATE_VARIABLE!r}], 'kept'), 'w').close(); " + LIVES
    options = GraphOptions("robot", state=tmp_path / "state")
    supervisor = Supervisor(options, seen.on_event, seen.on_line, stand_in(plan_executor=script))
    supervisor.start()
    assert supervisor.wait_ready(PATIENCE)
    assert supervisor.stop() == 0
    assert (tmp_path / "state" / "kept").is_file()


def test_a_restarted_node_is_not_ready_until_it_says_so_again(make, seen, tmp_path):
    script = f"""
first = not os.path.exists({str(tmp_path / "second")!r})
open({str(tmp_path / "second")!r}, "w").close()
if first:
    print("telerobot: operator_input ready", flush=True)
    sys.exit(1)
print("again", flush=True)
time.sleep(600)
"""
    supervisor = make("operator", operator_input=script)
    supervisor.start()
    seen.wait_for(lambda: ("operator_input", "again") in seen.lines)
    assert seen.of("operator_input", Change.READY)
    assert "operator_input" in supervisor.waiting_for()


def test_a_node_that_ignores_sigint_gets_sigterm(make, seen):
    script = "signal.signal(signal.SIGINT, signal.SIG_IGN); " + LIVES
    supervisor = make(plan_executor=script, grace=0.3)
    supervisor.start()
    assert supervisor.wait_ready(PATIENCE)
    assert supervisor.stop() == 0
    assert seen.of("plan_executor", Change.ENDED)[0].code == -signal.SIGTERM


def test_a_node_that_ignores_every_signal_is_killed_and_reported(make, seen):
    ignore = "[signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)]; "
    supervisor = make(plan_executor=ignore + LIVES, grace=0.3)
    supervisor.start()
    assert supervisor.wait_ready(PATIENCE)
    assert supervisor.stop() == 1
    assert [(event.node, event.code) for event in supervisor.unclean] == [("plan_executor", -signal.SIGKILL)]
    assert not alive(supervisor.pid("plan_executor"))


def test_a_node_that_is_killed_before_it_was_ready_had_nothing_to_end_cleanly(make, seen):
    ignore = "[signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)]; "
    supervisor = make(gcmsf_control=ignore + 'print("compiling", flush=True); time.sleep(600)', grace=0.3)
    supervisor.start()
    seen.wait_for(lambda: ("gcmsf_control", "compiling") in seen.lines)
    seen.wait_for(lambda: supervisor.waiting_for() == ["gcmsf_control"])
    assert supervisor.stop() == 0
    assert not alive(supervisor.pid("gcmsf_control"))


def test_a_node_that_fails_while_stopping_is_reported(make, seen):
    script = "signal.signal(signal.SIGINT, lambda *_: sys.exit(9)); " + LIVES
    supervisor = make(plan_executor=script)
    supervisor.start()
    assert supervisor.wait_ready(PATIENCE)
    assert supervisor.stop() == 1
    assert supervisor.unclean[0].code == 9


def test_a_node_whose_clean_up_hangs_ends_by_its_limit_and_is_counted(make, seen):
    hangs = "signal.signal(signal.SIGINT, lambda *_: os.kill(os.getpid(), signal.SIGALRM)); "
    supervisor = make(plan_executor=hangs + LIVES)
    supervisor.start()
    assert supervisor.wait_ready(PATIENCE)
    assert supervisor.stop() == 0  # it had come to rest
    assert [(event.node, event.code) for event in supervisor.by_limit] == [("plan_executor", -signal.SIGALRM)]
    assert supervisor.unclean == []


def test_processes_a_node_started_end_with_it(make, seen):
    script = 'child = subprocess.Popen(["sleep", "600"]); print(child.pid, flush=True); ' + LIVES
    supervisor = make(gcmsf_control=script)
    supervisor.start()
    assert supervisor.wait_ready(PATIENCE)
    child = next(int(line) for name, line in seen.lines if line.isdigit())
    assert alive(child)
    os.kill(supervisor.pid("gcmsf_control"), signal.SIGKILL)  # its child holds the output open: still noticed
    seen.wait_for(lambda: seen.of("gcmsf_control", Change.RESTARTING))
    wait_until(lambda: not alive(child))


def test_stopping_twice_and_before_the_start_is_harmless(make):
    supervisor = make()
    assert supervisor.stop() == 0
    supervisor.start()
    assert supervisor.stop() == 0
    assert not supervisor.wait_ready(1.0)


def test_a_command_that_cannot_be_run_counts_as_death(make, seen):
    good = stand_in()
    missing = "/nonexistent/telerobot"
    supervisor = make(command=lambda name, options: [missing] if name == "gcmsf_control" else good(name, options))
    supervisor.start()
    assert supervisor.wait(PATIENCE)
    assert supervisor.stop() == 1
    assert supervisor.failure.code == 127
    assert any(missing in line for name, line in seen.lines if name == "gcmsf_control")


def test_output_carries_the_name_of_the_node(capfd):
    supervisor = Supervisor(
        GraphOptions("robot"), command=stand_in(plan_executor='print("hello", file=sys.stderr); ' + LIVES)
    )
    supervisor.start()
    assert supervisor.wait_ready(PATIENCE)
    supervisor.stop()
    assert "[plan_executor     ] hello\n" in capfd.readouterr().out


def test_nodes_get_the_domain_of_the_user_and_see_this_host_only(make, seen, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "77")
    monkeypatch.delenv(DISCOVERY)
    monkeypatch.delenv(PROFILES[0])
    keys = ("ROS_DOMAIN_ID", DISCOVERY, PROFILES[0], "ROS_PYTHON_CHECK_FIELDS", "OMP_NUM_THREADS")
    script = f"print(*(os.environ[key] for key in {keys}), flush=True); " + LIVES
    make(plan_executor=script).start()
    profile = share_path("config/udp_loopback.xml")
    seen.wait_for(lambda: ("plan_executor", f"77 SYSTEM_DEFAULT {profile} 1 1") in seen.lines)


def test_a_discovery_range_set_by_the_user_is_kept(make, seen, monkeypatch):
    monkeypatch.setenv(DISCOVERY, "SUBNET")
    script = f"print(os.environ[{DISCOVERY!r}], flush=True); " + LIVES
    make(plan_executor=script).start()
    seen.wait_for(lambda: ("plan_executor", "SUBNET") in seen.lines)


def test_field_checks_of_messages_cannot_be_switched_off():
    assert node_environment({"ROS_PYTHON_CHECK_FIELDS": "0"})["ROS_PYTHON_CHECK_FIELDS"] == "1"
