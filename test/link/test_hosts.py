"""The hosts file: what is accepted, and where exactly what is not stands."""

import stat

import pytest

from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.link.hosts import keys_of, load_hosts, roles_of, shared_key
from telerobot_nodes.link.roles import KeyRole, LinkKey, RoleFault, create_key

GOOD = """\
key: {key}
hosts:
  cell:
    role: robot
    address: {address}
    port: 7601
  desk:
    role: operator
    port: 7602
"""
LOOPBACK = GOOD.replace("key: {key}\n", "").format(address="127.0.0.1")


def file(tmp_path, text):
    path = tmp_path / "hosts.yaml"
    path.write_text(text)
    return path


def refusal(tmp_path, text):
    with pytest.raises(ParameterFileError) as error:
        load_hosts(file(tmp_path, text))
    return error.value


def test_the_examples_are_read(root, tmp_path):
    hosts = load_hosts(root / "config" / "hosts" / "loopback.yaml")
    assert [row.name for row in hosts.hosts] == ["cell", "desk"]
    assert all(row.is_loopback for row in hosts.hosts)
    (tmp_path / "two.yaml").write_text((root / "config" / "hosts" / "two_hosts.yaml").read_text())
    create_key(tmp_path / "telerobot.key")
    two = load_hosts(tmp_path / "two.yaml")
    assert two.own("operator").rate == 2e6
    assert not two.own("robot").is_loopback


def test_each_host_knows_itself_and_the_hosts_of_the_other_role(tmp_path):
    hosts = load_hosts(file(tmp_path, LOOPBACK + "  spare: {role: operator, port: 7603}\n"))
    assert [row.name for row in hosts.peers(hosts.own("robot"))] == ["desk", "spare"]
    assert [row.name for row in hosts.peers(hosts.own("operator", "spare"))] == ["cell"]
    with pytest.raises(InvalidValueError, match="desk, spare"):
        hosts.own("operator")
    with pytest.raises(InvalidValueError, match="cell"):
        hosts.own("robot", "nosuch")


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ("port: 7602", "prot: 7602", 8, "hosts.desk.prot"),
        ("port: 7602", "port: 80", 8, "hosts.desk.port"),
        ("port: 7602", "port: seven", 8, "hosts.desk.port"),
        ("port: 7602", "port: 7601", 8, "port"),
        ("role: operator", "role: boss", 7, "hosts.desk.role"),
        ("role: operator", "role: robot", 1, "hosts"),
        ("127.0.0.1", "robot.example", 4, "hosts.cell.address"),
        ("127.0.0.1", "192.168.1.10", 4, "address"),
        ("127.0.0.1", "0.0.0.0", 4, "address"),
        ("  desk:", "  cell:", 6, "cell"),
        ("  desk:", "  'a b':", 7, "hosts.a b.name"),
        ("port: 7602", "port: 7602\n    rate: 100", 9, "hosts.desk.rate"),
        ("hosts:", "engine: pigeon\nhosts:", 1, "engine"),
        ("hosts:", "stale_after: .nan\nhosts:", 1, "stale_after"),
        ("hosts:", "on_loss: panic\nhosts:", 1, "on_loss"),
        ("hosts:", "key: nosuch.key\nhosts:", 1, "key"),
        ("port: 7601", "port: 7601\n    key: own.key", 6, "hosts.cell.key"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, line, key):
    error = refusal(tmp_path, LOOPBACK.replace(old, new))
    assert (error.line, error.key) == (line, key), str(error)


def test_an_address_beyond_loopback_needs_a_key(tmp_path):
    text = GOOD.format(key="own.key", address="192.168.1.10")
    create_key(tmp_path / "own.key")
    path = file(tmp_path, text)
    assert len(shared_key(path, load_hosts(path))) == 32
    assert refusal(tmp_path, text.replace("key: own.key\n", "")).key == "address"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_that_others_may_read_is_refused(tmp_path, mode):
    key = tmp_path / "own.key"
    create_key(key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.chmod(mode)
    error = refusal(tmp_path, GOOD.format(key="own.key", address="127.0.0.1"))
    assert (error.key, error.line) == ("key", 1)
    assert "others may" in str(error)


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "00" * 33])
def test_a_key_of_another_length_is_refused(tmp_path, text):
    key = tmp_path / "own.key"
    key.touch(mode=0o600)
    key.write_text(text)
    assert "hexadecimal" in str(refusal(tmp_path, GOOD.format(key="own.key", address="127.0.0.1")))


def test_a_key_file_is_never_written_over(tmp_path):
    create_key(tmp_path / "own.key")
    before = (tmp_path / "own.key").read_text()
    with pytest.raises(InvalidValueError):
        create_key(tmp_path / "own.key")
    assert (tmp_path / "own.key").read_text() == before


def test_two_keys_differ(tmp_path):
    for name in ("a", "b"):
        create_key(tmp_path / name)
    assert (tmp_path / "a").read_text() != (tmp_path / "b").read_text()
    assert (tmp_path / "a").stat().st_size == 65


OWN_KEYS = """\
hosts:
  cell: {role: robot, address: 192.168.1.10, port: 7601}
  desk: {role: operator, address: 192.168.1.20, port: 7602, key: desk.key}
  office: {role: operator, address: 192.168.1.30, port: 7602, key: office.key}
"""


def test_to_encrypt_needs_a_key_for_every_operator_and_the_package(tmp_path, monkeypatch):
    assert load_hosts(file(tmp_path, LOOPBACK)).encrypt is False
    assert refusal(tmp_path, "encrypt: true\n" + LOOPBACK).key == "encrypt"
    assert refusal(tmp_path, "encrypt: perhaps\n" + LOOPBACK).key == "encrypt"
    create_key(tmp_path / "own.key")
    text = "encrypt: true\nkey: own.key\n" + LOOPBACK
    assert load_hosts(file(tmp_path, text)).encrypt is True
    monkeypatch.setattr("telerobot_nodes.link.hosts.can_encrypt", lambda: False)
    assert "cryptography is not installed" in str(refusal(tmp_path, text))


def test_a_host_with_a_key_of_its_own_needs_no_other(tmp_path):
    path = file(tmp_path, OWN_KEYS)
    create_key(tmp_path / "desk.key")
    hosts = load_hosts(path)
    keys = keys_of(path, hosts, hosts.own("operator", "desk"))
    assert list(keys) == ["cell"]
    with pytest.raises(ParameterFileError) as error:
        keys_of(path, hosts, hosts.own("robot"))
    assert (error.value.line, error.value.key) == (4, "key")
    create_key(tmp_path / "office.key")
    every = keys_of(path, hosts, hosts.own("robot"))
    assert every["desk"] == keys["cell"] != every["office"]
    assert not roles_of(path, hosts, every)


def test_an_address_beyond_loopback_needs_a_key_of_every_operator(tmp_path):
    assert refusal(tmp_path, OWN_KEYS.replace(", key: office.key", "")).line == 2
    text = OWN_KEYS.replace(", key: office.key", "").replace("192.168.1.10", "127.0.0.1")
    assert refusal(tmp_path, text).line == 4


def roles(tmp_path, text=OWN_KEYS):
    path = file(tmp_path, text)
    hosts = load_hosts(path)
    return roles_of(path, hosts, keys_of(path, hosts, hosts.own("robot")))


def test_roles_come_from_the_keys_of_the_hosts(tmp_path):
    create_key(tmp_path / "desk.key", KeyRole.OPERATOR)
    create_key(tmp_path / "office.key", KeyRole.SUPERVISOR, ["boss", "deputy"])
    found = roles(tmp_path)
    assert found.operators == {"desk": ("desk",)}  # no name given: that of the host
    assert found.supervisors == {"boss", "deputy"}
    assert found.of_take("desk", "desk").fault is RoleFault.SUPERVISORS_ONLY
    assert found.of_name("office", "office").fault is RoleFault.OTHER_NAME


def test_one_key_with_a_role_serves_several_hosts(tmp_path):
    create_key(tmp_path / "own.key", KeyRole.OPERATOR)
    text = "key: own.key\n" + OWN_KEYS.replace(", key: desk.key", "").replace(", key: office.key", "")
    found = roles(tmp_path, text)
    assert found.operators == {"desk": ("desk",), "office": ("office",)}


@pytest.mark.parametrize(
    ("desk", "office", "line", "said"),
    [
        ((KeyRole.OPERATOR, ()), (None, ()), 4, "a role for all, or none"),
        ((None, ()), (KeyRole.SUPERVISOR, ("boss",)), 3, "a role for all, or none"),
        ((KeyRole.OPERATOR, ("ana",)), (KeyRole.SUPERVISOR, ("boss", "ana")), 4, "both speak as 'ana'"),
        ((KeyRole.OPERATOR, ("office",)), (KeyRole.SUPERVISOR, ()), 4, "both speak as 'office'"),
    ],
)
def test_roles_that_bind_nothing_are_refused(tmp_path, desk, office, line, said):
    create_key(tmp_path / "desk.key", *desk)
    create_key(tmp_path / "office.key", *office)
    with pytest.raises(ParameterFileError, match=said) as error:
        roles(tmp_path)
    assert error.value.line == line


def test_one_secret_with_two_roles_is_refused(tmp_path):
    create_key(tmp_path / "desk.key", KeyRole.OPERATOR)
    (tmp_path / "office.key").touch(mode=0o600)
    (tmp_path / "office.key").write_text((tmp_path / "desk.key").read_text().replace("operator", "supervisor"))
    with pytest.raises(ParameterFileError, match="same key"):
        roles(tmp_path)


def test_a_hosts_file_without_keys_has_no_roles(tmp_path):
    path = file(tmp_path, LOOPBACK)
    hosts = load_hosts(path)
    keys = keys_of(path, hosts, hosts.own("robot"))
    assert keys == {"desk": LinkKey(b"")}
    assert not roles_of(path, hosts, keys)
