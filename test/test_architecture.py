"""The imports of the package against the table of layers."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from telerobot_nodes.pages.layers import LAYERS, PURE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "telerobot_nodes"
NAME = PACKAGE.name
MOST_FILES = 15  # a folder
MOST_LINES = 400  # a file
MOST_CLASS_LINES = 250
ROS = {"rclpy", "telerobot", "std_srvs", "builtin_interfaces", "rosidl_runtime_py", "rpyutils", "moveit", "tf2_ros"}
CLOCKS = {"time", "threading", "multiprocessing", "concurrent", "asyncio"}


@dataclass(frozen=True)
class Import:
    """One name that one module imports."""

    file: Path
    line: int
    module: str
    name: str  # "" of `import module`

    def __str__(self):
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.module} {self.name}".rstrip()


def imports_of(file):
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield from (Import(file, node.lineno, node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (Import(file, node.lineno, alias.name, "") for alias in node.names)


FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(file):
    return ast.parse(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def imports():
    """Every import of the package."""
    return [found for file in FILES for found in imports_of(file)]


@pytest.fixture(scope="module")
def ours(imports):
    """Every import of the package from the package."""
    return [found for found in imports if found.module.split(".")[0] == NAME]


def package_of(file):
    """Dotted package of a file below `telerobot_nodes`; a top-level module is its own package."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1]) or parts[0]


def target_of(found):
    """Package that an import reaches and the module inside it, "" for its face."""
    parts = found.module.split(".")[1:]
    if found.name and PACKAGE.joinpath(*parts, found.name).is_dir():
        parts = [*parts, found.name]
    if PACKAGE.joinpath(*parts).is_dir():
        return ".".join(parts), ""
    if len(parts) == 1:
        return parts[0], ""
    return ".".join(parts[:-1]), parts[-1]


def layer_of(room):
    return next(height for height, rooms in enumerate(LAYERS) if room in rooms)


def test_the_table_lists_every_package():
    listed = {room for rooms in LAYERS for room in rooms}
    listed |= {f"{room}.{part}" for rooms in LAYERS for room, parts in rooms.items() for part in parts}
    found = {package_of(file) for file in FILES if file.name != "__init__.py"} - {"__init__"}
    assert found <= listed
    assert {name for name in listed if (PACKAGE / name.replace(".", "/")).is_dir()} == listed - {
        file.stem for file in PACKAGE.glob("*.py")
    }


@pytest.mark.lengthy
def test_only_nodes_import_ros(imports):
    def is_ros(found):
        top = found.module.split(".")[0]
        return top in ROS or top.endswith("_msgs")

    assert [str(f) for f in imports if is_ros(f) and not package_of(f.file).startswith("nodes")] == []


@pytest.mark.lengthy
def test_no_room_imports_a_room_beside_or_above_it(ours):
    wrong = []
    for found in ours:
        here, there = package_of(found.file).split(".")[0], target_of(found)[0].split(".")[0]
        if there and here != there and found.file != PACKAGE / "__init__.py" and layer_of(there) >= layer_of(here):
            wrong.append(str(found))
    assert wrong == []


@pytest.mark.lengthy
def test_sub_packages_import_only_those_below_them(ours):
    order = {f"{room}.{part}": n for rooms in LAYERS for room, parts in rooms.items() for n, part in enumerate(parts)}
    wrong = []
    for found in ours:
        here, there = package_of(found.file), target_of(found)[0]
        same_room = here.split(".")[0] == there.split(".")[0]
        if same_room and here != there and here in order and order.get(there, -1) >= order[here]:
            wrong.append(str(found))
    assert wrong == []


@cache
def public_names(package):
    for node in tree_of(PACKAGE / package.replace(".", "/") / "__init__.py").body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


@pytest.mark.lengthy
def test_nothing_is_imported_past_a_public_interface(ours):
    wrong = []
    for found in ours:
        here, (there, module) = package_of(found.file), target_of(found)
        if not there or here == there or found.file.parent == PACKAGE / there.replace(".", "/"):
            continue
        is_package = (PACKAGE / there.replace(".", "/")).is_dir()
        if module or (is_package and found.name not in public_names(there) and found.module.split(".")[1:] != []):
            wrong.append(str(found))
    assert wrong == []


def test_pure_packages_have_no_clock_and_no_threads(imports):
    def is_pure(file):
        package = package_of(file)
        return any(package == pure or package.startswith(f"{pure}.") for pure in PURE)

    assert [str(f) for f in imports if f.module.split(".")[0] in CLOCKS and is_pure(f.file)] == []


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES}), ids=lambda f: str(f.relative_to(ROOT)))
def test_no_folder_is_crowded_and_no_file_is_long(folder):
    files = sorted(folder.glob("*.py"))
    assert len(files) <= MOST_FILES
    lengths = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


@pytest.mark.lengthy
def test_no_class_is_long():
    classes = [
        (f"{file.relative_to(ROOT)}:{node.name}", node.end_lineno - node.lineno + 1)
        for file in FILES
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ClassDef)
    ]
    assert [(name, lines) for name, lines in classes if lines > MOST_CLASS_LINES] == []
