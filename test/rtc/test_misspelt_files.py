"""Every name and number of the shipped files misspelt, one at a time: loading finds it, with line and column."""

import random
import re
import shutil

import pytest
import yaml

from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.rtc.skills import load_library

SAMPLE = 3  # fields of each file
OWN_NAMES = {"arms", "cameras", "places", "paths", "regions", "resources", "tools", "signals", "scripts", "primitives"}


def fields(node, path=()):
    """Kind, YAML node and path of every key and every plain value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield "key", key, (*path, key.value)
            yield from fields(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from fields(value, (*path, number))
    else:
        yield "value", node, path


def misspelt(kind, node):
    """The text of the field with a letter too much, a number as a word; None where there is nothing to misspell."""
    if kind == "value" and node.tag.endswith((":int", ":float")):
        return "bogus"
    if kind == "value" and node.tag.endswith(":bool"):
        return "17"
    words = list(re.finditer(r"[A-Za-z_]{3,}", node.value))
    return node.value[: words[-1].end()] + "q" + node.value[words[-1].end() :] if words else None


def is_free(kind, path, node):
    """A field that anything may be written in: prose, and a name that is given there and used nowhere else."""
    last = path[-1]
    names_itself = kind == "key" and len(path) == 2 and path[0] in OWN_NAMES
    given = last in ("step", "skill", "gripper", "namespace") or path[0] in ("tools", "signals", "agents")
    prose = last in ("doc", "else", "operator", "note", "action") or (path[0] != "skill" and "stops" in path)
    text = "'" in node.value  # inside an expression, what an option or a kind is compared with
    return names_itself or given or prose or "common_stops" in path or text or path[-1] == "kind"


def cases(config, sample):
    for file in sorted(config.rglob("*.yaml")):
        text = file.read_text()
        wrong = []
        for kind, node, path in fields(yaml.compose(text, Loader=yaml.SafeLoader)):
            new = misspelt(kind, node)
            if new is not None and node.style in (None, "'", '"') and not is_free(kind, path, node):
                quote = node.style or ""
                wrong.append((path, node.start_mark.index, node.end_mark.index, f"{quote}{new}{quote}"))
        chosen = wrong if sample is None else random.Random(file.name).sample(wrong, min(sample, len(wrong)))
        for path, start, end, new in chosen:
            yield file.relative_to(config), path, text[:start] + new + text[end:]


def missed(config, tmp_path, sample):
    """The misspelt fields that loading does not find."""
    shutil.copytree(config, tmp_path / "rtc")
    found_nothing = []
    for name, path, text in cases(config, sample):
        file = tmp_path / "rtc" / name
        file.write_text(text)
        try:
            load_library(tmp_path / "rtc")
            found_nothing.append((str(name), path))
        except ParameterFileError as error:
            assert re.match(r"[a-z_]+\.yaml:\d+:\d+: ", str(error)), error
        shutil.copyfile(config / name, file)
    return found_nothing


@pytest.mark.lengthy
@pytest.mark.nightly
def test_a_misspelt_field_is_found(config, tmp_path):
    assert missed(config, tmp_path, SAMPLE) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_misspelt_field_is_found(config, tmp_path):
    assert missed(config, tmp_path, None) == []
