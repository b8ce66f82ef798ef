"""Key files with a role: what is written, what is read, and what is refused without a secret being shown."""

import re

import pytest

from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.link.roles import KeyRole, LinkKey, create_key, read_key


def read(file):
    def reject(problem):
        raise ParameterFileError("hosts.yaml", 1, "key", problem)

    return read_key(file, reject)


def test_a_key_with_a_role_is_read_as_it_was_made(tmp_path):
    file = tmp_path / "desk.key"
    create_key(file, KeyRole.OPERATOR, ["desk", "o'neill: 2"])
    key = read(file)
    assert (key.role, key.agents) == (KeyRole.OPERATOR, ("desk", "o'neill: 2"))
    assert key.secret.hex() in file.read_text()
    assert key.secret.hex() not in repr(key)


def test_a_key_without_a_role_has_every_right(tmp_path):
    create_key(tmp_path / "own.key")
    assert read(tmp_path / "own.key") == LinkKey(bytes.fromhex((tmp_path / "own.key").read_text().strip()))


def test_names_come_from_the_host_when_none_are_given(tmp_path):
    create_key(tmp_path / "own.key", KeyRole.SUPERVISOR)
    assert read(tmp_path / "own.key").agents == ()


@pytest.mark.parametrize(
    ("role", "agents", "said"),
    [
        (None, ["desk"], "with a role"),
        (KeyRole.OPERATOR, ["program"], "other names than the robot's"),
        (KeyRole.OPERATOR, [""], "1 to 64"),
        (KeyRole.OPERATOR, ["a\nrole: supervisor"], "printable"),
        (KeyRole.OPERATOR, ["x" * 65], "1 to 64"),
    ],
)
def test_names_that_nobody_may_have_make_no_key(tmp_path, role, agents, said):
    with pytest.raises(InvalidValueError, match=said):
        create_key(tmp_path / "own.key", role, agents)
    assert not (tmp_path / "own.key").exists()


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ("role: operator", "role: boss", 2, "role"),
        ("role: operator", "rolle: operator", 2, "rolle"),
        ("role: operator\n", "", 1, "role"),
        ("agents:", "agents: [robot]\n#", 3, "agents"),
        ('key: "', 'key: "00', 1, "key"),
        ('key: "', '# "', 2, "key"),
        ('key: "', "key: 1234 # ", 1, "key"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_without_the_secret(tmp_path, old, new, line, key):
    file = tmp_path / "desk.key"
    create_key(file, KeyRole.OPERATOR, ["desk"])
    secret = re.search("[0-9a-f]{64}", file.read_text())[0]
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ParameterFileError) as error:
        read(file)
    assert (error.value.file, error.value.key) == (str(file), key), str(error.value)
    assert error.value.line == line, str(error.value)
    assert secret not in str(error.value)
