"""Sub-commands of `telerobot`: in what part of the help each stands, where its code is, what it does in one line."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One sub-command. `place`: "file:object" of this package; the object is a typer function or a typer group."""

    place: str
    summary: str


START, STOP, DRIVE, AUTHORITY, COMMAND, REVIEW, HOST, REFERENCE = (
    "Start",
    "Stop, always within reach",
    "Drive and plan ahead",
    "Several operators, link, camera",
    "Primitives, commands and macros",
    "Look back and measure",
    "Hosts, arms and devices",
    "Reference",
)

GROUPS: dict[str, dict[str, Entry]] = {
    START: {
        "demo": Entry("demo:command", "Run the demo: a simulated arm, a delay, the console in your browser."),
        "up": Entry("host.up:command", "Start a graph, supervise it, and stop it on Ctrl-C."),
        "panel": Entry("keyboard:panel", "Open the operator's panel as a window."),
        "status": Entry("operate:status", "Print the state on the operator's side."),
    },
    STOP: {
        "halt": Entry("stops:halt", "Stop every arm on its path and keep the plan."),
        "stop": Entry("stops:halt", "The same as halt."),
        "estop": Entry("stops:estop", "Latch the e-stop of every arm, until reset."),
        "reset": Entry("stops:reset", "Release the e-stop or a fault; the arm holds."),
        "resume": Entry("operate:resume", "Continue after a halt or pause."),
        "pause": Entry("operate:pause", "Bring the arm to rest on its path and keep the plan."),
    },
    DRIVE: {
        "keyboard": Entry("keyboard:command", "Drive the tool with the keys of this terminal."),
        "clutch": Entry("operate:clutch", "Engage or disengage the time clutch."),
        "position": Entry("operate:position", "Disengage the position clutch; join or discard the trial path."),
        "brake": Entry("operate:brake", "Apply or release the time brake, which deletes from the end of the plan."),
        "undo": Entry("operate:undo", "Bring back what brake or clear deleted."),
        "clear": Entry("operate:clear", "Delete every point of the plan not yet executed."),
        "ratio": Entry("operate:ratio", "Set the time ratio: plan time per time of the hand."),
        "rate": Entry("operate:rate", "Set how fast the robot executes the plan."),
        "gripper": Entry("operate:gripper", "Set the gripper's opening from the end of the plan on."),
        "orientation": Entry("operate:orientation", "Engage or disengage the orientation clutch."),
        "linear-scale": Entry("operate:linear_scale", "Set how far the tool moves when the hand moves."),
        "angular-scale": Entry("operate:angular_scale", "Set how far the tool turns when the hand turns."),
        "collision-stop": Entry("operate:collision_stop", "Let the robot wait before predicted collisions, or not."),
        "singularities": Entry("operate:singularities", "Let the hand pass singularities of the arm, or not."),
        "scrub": Entry("operate:scrub", "Show the simulated arm at a time of the plan ahead."),
        "mode": Entry("operate:mode", "Select who moves the arm: your hand, a primitive, the program, by turns."),
        "direct": Entry("operate:direct", "Select what the input device moves: the plan or the running primitive."),
        "replay": Entry("operate:replay", "Play a recorded hand, or end the replay."),
        "tare": Entry("stops:tare", "Take the present force as zero; the arm must be at rest."),
    },
    AUTHORITY: {
        "control": Entry("operate:control", "Request, grant, refuse, release or take authority over the plan."),
        "link": Entry("operate:link", "Set the emulated link: delay, jitter, loss."),
        "camera": Entry("operate:camera", "Select the camera, the rate of its pictures and their bytes."),
        "record": Entry("operate:record", "Begin or end a recording of this host's graph."),
    },
    COMMAND: {
        "run": Entry("run:command", "Run a command of the language to its end, or one node of the graph."),
        "try": Entry("program.command:attempt", "Check whether tasks would work; nothing moves."),
        "complete": Entry("program.command:complete", "Print the possible next words of a command."),
        "primitive": Entry("primitive:command", "Run one primitive on a running graph."),
        "macro": Entry("macro.commands:app", "List, edit, learn, test and run macros."),
        "menu": Entry("menu:app", "Show, check and run the leaves of the menus."),
        "simulate": Entry("program.simulate:command", "Run commands offline with simulated arms."),
        "script": Entry("program.script:command", "Show the steps of commands that ran."),
        "plan": Entry("plan:command", "Plan, prove and time a path around obstacles."),
    },
    REVIEW: {
        "review": Entry("review:command", "Check a recorded run; report, tables, playback in the console."),
        "bench": Entry("bench:command", "Run one benchmark."),
        "task": Entry("task:command", "Run simulated contact tasks."),
        "study": Entry("study.command:command", "Hold the delay study with a person at the console."),
    },
    HOST: {
        "doctor": Entry("host.doctor:command", "Examine this host and say what to do; nothing changes."),
        "arm": Entry("host.arm:app", "Check your arm file, or stand in for an arm."),
        "devices": Entry("host.devices:command", "List gamepads and 3-D mice, or publish one."),
        "security": Entry("host.up:security", "Make keys for the link between the hosts."),
    },
    REFERENCE: {
        "graph": Entry("pages:graph", "Print every node, topic and service of the graph."),
        "params": Entry("pages:params", "Print the parameters of every node."),
        "states": Entry("pages:state_machines", "Print the state machines."),
    },
}

COMMANDS: dict[str, Entry] = {name: entry for group in GROUPS.values() for name, entry in group.items()}
