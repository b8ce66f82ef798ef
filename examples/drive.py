"""Drives the arm over the plan, touches the table, asks the decision unit: the client of docs/client.md.

Start a graph (`telerobot up demo`), then

    python examples/drive.py
"""

from __future__ import annotations

from telerobot_nodes.client import connect


def main() -> int:
    """Lift the tool, touch what is below it, withdraw; returns 0 if all of it succeeded."""
    with connect() as robot:
        if not robot.wait_ready():
            print(f"the arm is not ready: {robot.state.mode.name} {robot.state.robot.reason}")
            return 1
        x, y, z = robot.state.queue.target_pose[:3]
        lifted = robot.move_to(position=(x, y, z + 0.05), speed=0.1)
        print(f"lift: {lifted.end.value} {lifted.reason}")
        touch = robot.primitive("move_to_touch", tr_rel_dest=[0, 0, 0.4, 0, 0, 0, 1], time_vel_val=0.1)
        for report in touch:
            print(f"  {report.elapsed:.1f} s {report.phase}, force {abs(report.wrench[:3]).max():.1f} N")
        touched = touch.wait()
        print(f"touch: {touched.end.value}, {touched.reason}")
        withdrawn = robot.run("retract left_arm by 8 cm")
        print(f"withdraw: {withdrawn.end.value} {withdrawn.reason}")
        print(f"tool {robot.state.tool_pose[:3].round(3)} m, lead {robot.state.lead:.1f} s")
    return 0 if lifted.ok and touched.ok and withdrawn.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
