"""The packages in the order in which they may import each other; `test/test_architecture.py` enforces it.

A package imports packages of lower layers only. Inside a package, a sub-package imports those listed before it. Other
packages import only what a sub-package's `__init__` exports.
"""

from __future__ import annotations

# Layers from the bottom: package -> its sub-packages, bottom first.
LAYERS: tuple[dict[str, tuple[str, ...]], ...] = (
    {"errors": (), "_user_folders": ()},
    {"_bytecode_cache": (), "_numba_cache": ()},
    {"core": ("config", "values", "transforms", "robot", "camera", "timing", "interpolation", "protocol", "memory")},
    {"graph": ()},
    {
        "plan": ("log", "shaping", "authority", "executor", "queue"),
        "link": ("datagrams", "requests", "roles"),
        "simulation": (),
        "motion": ("parameters", "tracking", "law", "primitives", "loop", "scheduling"),
        "cspace": ("covering", "geometry", "proof", "simd", "search", "multi_arm", "service", "scenes"),
        "rtc": ("language", "world", "skills", "elaboration", "decision", "execution", "server", "rehearsal"),
        "operator": (
            "recording",
            "devices",
            "evdev",
            "client",
            "view",
            "forms",
            "review",
            "dataset",
            "script",
            "web",
            "scene",
            "console",
            "camera",
            "playback",
            "panel",
        ),
        "hardware": ("ros2_control", "camera"),
    },
    {"tasks": ()},
    {"macros": ()},
    {"menus": ()},
    {"plotting": ()},
    {
        "nodes": (
            "framework",
            "messages",
            "decision",
            "clients.under_way",
            "clients",
            "macros",
            "probes",
            "planning",
            "drivers",
            "halts",
            "robot",
            "menus",
            "operator",
            "devices",
            "tools",
        )
    },
    {"runtime": ()},
    {"demo": (), "client": (), "doctor": ("arm",), "pages": (), "study": ("design", "results", "run")},
    {
        "bench": (
            *("contact", "plan", "planner", "two_arms", "rtc", "link", "driver", "review", "macros", "study"),
            *("console", "faults", "security", "join", "soak"),
        )
    },
    {"cli": ("program", "macro", "host", "study", "review")},
    {"__main__": (), "fork_server": ()},
)

# Packages that take the time as an argument and start no threads.
PURE: tuple[str, ...] = (
    "core.config",
    "core.values",
    "core.transforms",
    "core.robot",
    "core.camera",
    "core.interpolation",
    "core.protocol",
    "core.memory",
    "graph",
    "plan",
    "link",
    "link.datagrams",
    "link.requests",
    "link.roles",
    "simulation",
    "motion.parameters",
    "motion.tracking",
    "motion.law",
    "motion.primitives",
    "cspace.covering",
    "cspace.geometry",
    "cspace.proof",
    "cspace.simd",
    "cspace.search",
    "cspace.multi_arm",
    "rtc.language",
    "rtc.world",
    "rtc.skills",
    "rtc.elaboration",
    "rtc.decision",
    "rtc.execution",
    "rtc.rehearsal",
    "operator.client",
    "operator.view",
    "operator.forms",
    "operator.review",
    "hardware",
    "macros",
    "menus",
    "study.design",
    "study.results",
)
