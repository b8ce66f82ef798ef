"""The robot's graph under `ros2 launch` starts, reports and ends cleanly on SIGINT. Run by `launch_test`."""

import importlib.util
import sys
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import launch_testing.markers
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

HERE = Path(__file__).resolve().parent
ROBOT = ("hardware_interface", "gcmsf_control", "plan_executor")


def scenario():
    """The scenario shared with the supervisor's test, which lies beside this file."""
    spec = importlib.util.spec_from_file_location("scenario", HERE.parent / "support" / "robot_scenario.py")
    module = sys.modules.setdefault("scenario", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


@launch_testing.markers.keep_alive
def generate_test_description():
    source = PythonLaunchDescriptionSource(str(HERE.parent.parent / "launch" / "robot.launch.py"))
    included = IncludeLaunchDescription(source, launch_arguments={"without": "bag_recorder"}.items())
    return LaunchDescription([included, launch_testing.actions.ReadyToTest()])


class WhileRunning(unittest.TestCase):
    def test_every_node_gets_ready_and_the_executor_reports(self, proc_output):
        for name in ROBOT:
            proc_output.assertWaitFor(f"telerobot: {name} ready", timeout=90.0, stream="stdout")
        shared = scenario()
        listener = shared.Listener()
        try:
            shared.robot_is_idle_and_knows_its_arm(listener)
        finally:
            listener.close()


@launch_testing.post_shutdown_test()
class AfterShutdown(unittest.TestCase):
    def test_every_node_ended_with_exit_code_0_after_sigint(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
        assert len(list(proc_info)) == len(ROBOT)
