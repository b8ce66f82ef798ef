"""One set of metadata for pip and colcon, a complete lock, and an installed package that is a ROS package."""

import configparser
import importlib
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib import metadata
from importlib.metadata import version
from pathlib import Path

import pytest

import telerobot_nodes
from telerobot_nodes.graph.table import NODES, TOPICS

PREFIX = Path(sys.prefix)
KINDS = {"msg": "*.msg", "srv": "*.srv", "action": "*.action"}


@pytest.fixture(scope="module")
def manifest(root):
    return ElementTree.parse(root / "package.xml").getroot()


@pytest.fixture(scope="module")
def setup_cfg(root):
    parser = configparser.ConfigParser()
    parser.read(root / "setup.cfg")
    return parser


LOCKS = ("requirements.lock", "requirements-dev.lock")
ENTRY = re.compile(r"^([A-Za-z0-9_.-]+)==([^ ;\\]+)([^\\\n]*)((?:\\\n +--hash=sha256:[0-9a-f]{64} ?)+)\n", re.MULTILINE)


def locked(root, name):
    """Names in a lock."""
    text = "".join(line for line in (root / name).read_text().splitlines(True) if not line.startswith("#"))
    assert not ENTRY.sub("", text), "a lock holds exact versions with hashes only"
    return {canonical(row[1]) for row in ENTRY.finditer(text)}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements):
    return {canonical(re.match(r"[A-Za-z0-9_.-]+", line)[0]) for line in requirements if line.strip()}


def test_one_version_everywhere(manifest):
    assert manifest.findtext("version") == telerobot_nodes.__version__ == version("telerobot")


def test_the_locks_hold_everything_asked_for(root, setup_cfg):
    text = (root / "pyproject.toml").read_text()
    build = re.findall(r'^  "([^"]+)",$', text.split("requires = [")[1].split("]\n")[0], re.MULTILINE)
    assert len(build) > 20
    run, develop = (locked(root, name) for name in LOCKS)
    extras = setup_cfg["options.extras_require"]
    assert names(build) <= run
    assert names(setup_cfg["options"]["install_requires"].splitlines()) <= run
    assert names((extras["robots"] + extras["dev"]).splitlines()) <= run | develop


def test_what_only_development_needs_is_not_in_the_lock_of_a_run(root, setup_cfg):
    developed = names(setup_cfg["options.extras_require"]["dev"].splitlines())
    assert not developed & locked(root, "requirements.lock")


@pytest.mark.lengthy
def test_no_file_is_installed_in_two_versions_by_two_locked_wheels(root):
    """Which of the two is found would depend on the order of installing, as with `lark` and `lark-parser`."""
    versions: dict[Path, dict[str, str]] = {}
    for name in locked(root, "requirements.lock") | locked(root, "requirements-dev.lock"):
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:  # for another Python or another system
            continue
        for file in files:
            if file.suffix == ".py" and file.hash is not None:
                versions.setdefault(Path(file.locate()), {}).setdefault(file.hash.value, name)
    assert len(versions) > 1000
    assert not {str(file): sorted(names.values()) for file, names in versions.items() if len(names) > 1}


IMPORTED_AS = {"pillow": "PIL", "pin": "pinocchio", "pyyaml": "yaml", "msgspec": "msgspec"}


@pytest.mark.lengthy
def test_every_dependency_of_a_run_is_imported_somewhere(root, setup_cfg):
    wanted = {n for n in names(setup_cfg["options"]["install_requires"].splitlines()) if not n.startswith("ros-")}
    text = "\n".join(path.read_text() for path in (root / "telerobot_nodes").rglob("*.py"))
    unused = {n for n in wanted if not re.search(rf"^ *(?:import|from) {IMPORTED_AS.get(n, n)}\b", text, re.MULTILINE)}
    assert not unused


def test_ros_packages_of_the_graph_are_named_in_the_manifest(manifest):
    declared = {element.text for element in manifest.iter() if element.tag.endswith("depend")}
    used = {entry.type.split("/")[0] for entry in TOPICS}
    used |= {entry.type.split("/")[0] for owner in NODES for entry in owner.services}
    assert used - {"telerobot"} <= declared


ROSDEP = {"pillow": "python3-pil", "pin": "pinocchio", "lark": "python3-lark-parser", "pyyaml": "python3-yaml"}


def test_every_python_dependency_has_a_rosdep_key_or_is_told_to_come_from_pip(root, setup_cfg, manifest):
    wanted = {name for name in names(setup_cfg["options"]["install_requires"].splitlines()) if "ros-" not in name}
    declared = {element.text for element in manifest.iter("exec_depend")}
    (told,) = re.findall(r"requirements\.lock:\s(.*?)-->", (root / "package.xml").read_text(), re.DOTALL)
    from_pip = {canonical(name) for name in told.split()}
    by_key = {name for name in wanted if ROSDEP.get(name, f"python3-{name}") in declared}
    assert by_key | from_pip == wanted
    assert not by_key & from_pip


def test_every_interface_is_installed_and_agrees_with_its_file(root):
    for kind, pattern in KINDS.items():
        module = importlib.import_module(f"telerobot.{kind}")
        for path in (root / kind).glob(pattern):
            assert hasattr(module, path.stem), f"{path.name}: run `make build`"
            if kind == "msg":
                code = (re.sub(r"#.*", "", line) for line in path.read_text().splitlines())
                rows = [row.split() for row in code if row.strip() and "=" not in row]
                assert [row[1] for row in rows] == list(getattr(module, path.stem).get_fields_and_field_types())


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_an_interface_tells_its_meaning_where_the_name_does_not(root, kind):
    for path in (root / kind).glob(KINDS[kind]):
        assert path.read_text().lstrip().startswith("#"), f"{path.name} does not open with what it is"


def test_every_node_has_an_executable_for_ros2_run():
    folder = PREFIX / "lib" / "telerobot"
    if not folder.is_dir():
        pytest.skip(f"the package is not installed in {PREFIX}")
    assert {path.name for path in folder.iterdir()} == {entry.name for entry in NODES}, "run `make build`"
    assert all(os.access(path, os.X_OK) for path in folder.iterdir())


@pytest.mark.lengthy
def test_the_executable_of_a_node_is_the_telerobot_command(tmp_path):
    executable = PREFIX / "lib" / "telerobot" / "plan_executor"
    if not executable.is_file():
        pytest.skip(f"the package is not installed in {PREFIX}")
    command = [executable, "--graph", "operator", "--ros-args"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "does not hold node plan_executor" in " ".join(done.stderr.replace("│", " ").split())


def test_the_environment_is_an_ament_prefix_that_knows_the_package():
    if not (PREFIX / "share" / "ament_index").is_dir():
        pytest.skip(f"{PREFIX} is not an ament prefix")
    assert (PREFIX / "share/ament_index/resource_index/packages/telerobot").is_file()
    assert (PREFIX / "share/telerobot/package.xml").is_file()
    assert (PREFIX / "share/telerobot/launch/robot.launch.py").is_file()


@pytest.fixture
def set_up(root, tmp_path):
    """A copy of what make looks at, as `make setup` leaves it."""
    for folder in KINDS:
        shutil.copytree(root / folder, tmp_path / folder)
    for name in ("Makefile", *LOCKS, "CMakeLists.txt", "package.xml", "setup.py", "setup.cfg"):
        shutil.copy(root / name, tmp_path)
    for path in [*tmp_path.rglob("*"), *(tmp_path / folder for folder in KINDS)]:
        os.utime(path, (1000.0, 1000.0))
    (tmp_path / ".venv").mkdir()
    for number, name in enumerate((".wheels", ".built", ".develop")):
        (tmp_path / ".venv" / name).touch()
        os.utime(tmp_path / ".venv" / name, (2000.0 + number, 2000.0 + number))
    return tmp_path


def would_do(folder, target="setup"):
    """The steps of .ci/set_up.py that make would run in this folder."""
    done = subprocess.run(["make", "--dry-run", target], cwd=folder, capture_output=True, text=True, check=True)
    return re.findall(r"set_up\.py (\w+)", done.stdout)


def test_make_setup_does_nothing_when_nothing_changed(set_up):
    assert would_do(set_up) == []


@pytest.mark.parametrize("name", ["msg/LinkStamp.msg", "srv", "action", "CMakeLists.txt", "package.xml", "setup.cfg"])
def test_make_setup_builds_again_when_the_build_changed(set_up, name):
    (set_up / name).touch()
    assert would_do(set_up) == ["build"]


def test_make_setup_installs_and_builds_again_when_the_lock_changed(set_up):
    (set_up / "requirements.lock").touch()
    assert would_do(set_up) == ["run", "build"]


def test_tests_install_what_they_need_besides_and_a_demo_does_not(set_up):
    (set_up / "requirements-dev.lock").touch()
    assert would_do(set_up, "demo") == []
    assert would_do(set_up, "quick") == ["develop", "compiled"]


@pytest.mark.parametrize(("target", "parts"), [("setup", "demo"), ("demo", "demo"), ("quick", "all"), ("test", "all")])
def test_the_planner_compiles_beside_the_build_when_tests_are_wanted_and_a_demo_does_not_wait_for_it(
    set_up, target, parts
):
    (set_up / "msg").touch()
    done = subprocess.run(["make", "--dry-run", target], cwd=set_up, capture_output=True, text=True, check=True)
    assert re.findall(r"set_up\.py build (\w+)", done.stdout) == [parts]


@pytest.mark.parametrize(("target", "steps"), [("quick", ["compiled"]), ("test", ["compiled"]), ("style", [])])
def test_tests_look_whether_compiled_sources_changed_and_style_does_not(set_up, target, steps):
    """A pull with changed kernels: each test would wait for the compiler, up to its time limit."""
    assert would_do(set_up, target) == steps


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"CXX": "/nonexistent/c++"}, "g++"),
    ],
)
def test_what_the_machine_lacks_is_named_as_debian_packages(root, change, expected):
    done = subprocess.run(
        [sys.executable, ".ci/check_host.py"],
        cwd=root,
        env={**os.environ, **change},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("telerobot: missing on this machine: ")
    assert expected in done.stderr


def test_a_machine_with_everything_is_accepted(root):
    done = subprocess.run([sys.executable, ".ci/check_host.py"], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_committed_files_name_no_machine_and_no_index(root):
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git work tree")
    for name in tracked.stdout.split():
        path = root / name
        if path.suffix in {".py", ".txt", ".lock", ".cfg", ".toml", ".md", ".yaml", ""} and path.is_file():
            text = path.read_text(errors="ignore")
            for word in ("py" + "pi.org", "files.python" + "hosted", "/work" + "/", "--index" + "-url"):
                assert word not in text, f"{name} names {word}"


@pytest.mark.slow
@pytest.mark.timeout(700)
def test_colcon_builds_the_package_from_a_clean_copy(root, tmp_path):
    source = tmp_path / "src" / "telerobot"
    source.mkdir(parents=True)
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    for name in tracked.stdout.split():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((root / name).read_bytes())
    environment = os.environ | {
        "PATH": f"{PREFIX / 'bin'}:{os.environ['PATH']}",
        "AMENT_PREFIX_PATH": str(PREFIX),
        "CMAKE_PREFIX_PATH": str(PREFIX),
    }
    subprocess.run(
        ["colcon", "build", "--cmake-args", f"-DPython3_EXECUTABLE={sys.executable}"],
        cwd=tmp_path,
        env=environment,
        check=True,
        timeout=600,
    )
    installed = tmp_path / "install" / "telerobot"
    assert {path.name for path in (installed / "lib/telerobot").iterdir()} == {
        "telerobot",
        *(entry.name for entry in NODES),
    }
    done = subprocess.run(
        ["bash", "-c", f". {tmp_path}/install/local_setup.bash && {installed}/lib/telerobot/plan_executor --help"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Run one node" in done.stdout, done.stderr


OF_THE_CHECKOUT = {"PYTHONPATH", "AMENT_PREFIX_PATH", "NUMBA_CACHE_DIR"}


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.timeout(1500)
def test_the_wheel_runs_the_demo_in_an_empty_environment_away_from_the_checkout(root, tmp_path):
    """Packages are fetched, or taken from the installer's cache."""
    source, away = tmp_path / "source", tmp_path / "away"
    away.mkdir()
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    for name in tracked.stdout.split():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, source / name)
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", away, source]
    environment = {key: value for key, value in os.environ.items() if key not in OF_THE_CHECKOUT}
    environment.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None)  # marks this environment's libraries as loaded
    environment |= {"PATH": f"{PREFIX / 'bin'}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment["UV_CACHE_DIR"] = os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
    subprocess.run(build, env=environment, check=True)
    (wheel,) = away.glob("telerobot-*.whl")
    subprocess.run([sys.executable, "-m", "venv", away / "env"], env=environment, check=True)
    install = [PREFIX / "bin" / "uv", "pip", "install", "--python", away / "env/bin/python", "--no-deps"]
    subprocess.run([*install, "--require-hashes", "-r", root / "requirements.lock"], env=environment, check=True)
    subprocess.run([*install, wheel], env=environment, check=True)
    demo = [away / "env/bin/telerobot", "demo", "--headless", "--delay", "0.5", "--folder", away / "run"]
    done = subprocess.run(demo, cwd=away, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (away / "run" / "summary.json").is_file()
