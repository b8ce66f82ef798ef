"""`telerobot security create` and `telerobot up --hosts` as a person calls them."""

import stat

from telerobot_nodes.cli import main


def test_a_key_is_written_for_its_owner_only_and_never_over_another(tmp_path, capsys):
    file = tmp_path / "link.key"
    assert main(["security", "create", str(file)]) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_text()
    assert main(["security", "create", str(file)]) == 2
    assert file.read_text() == before
    assert before.strip() not in capsys.readouterr().out


def test_a_host_beyond_loopback_without_a_key_refuses_the_start(tmp_path, capsys):
    file = tmp_path / "hosts.yaml"
    file.write_text(
        "hosts:\n  cell: {role: robot, address: 192.168.1.10, port: 7601}\n  desk: {role: operator, port: 7602}\n"
    )
    assert main(["up", "robot", "--hosts", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"{file}:2:" in said
    assert "`key` is needed" in said


def test_a_certificate_is_written_once_and_its_fingerprint_told(tmp_path, capsys):
    file = tmp_path / "console.pem"
    words = ["security", "certificate", str(file)]
    assert main(words) == 2
    assert "address" in capsys.readouterr().err
    words += ["--address", "192.168.1.20", "--address", "desk.local"]
    assert main(words) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    told = capsys.readouterr().out
    assert "PRIVATE" not in told
    assert len(told.split("SHA-256 ")[1].strip().split(":")) == 32
    assert main(words) == 2


def test_a_key_gets_a_role_and_names_and_no_other_role(tmp_path, capsys):
    file = tmp_path / "boss.key"
    words = ["security", "create", str(file), "--role"]
    assert main([*words, "boss"]) == 2
    assert "allowed: operator, supervisor" in capsys.readouterr().err
    assert main(["security", "create", str(file), "--agent", "ana"]) == 2
    assert main([*words, "supervisor", "--agent", "program"]) == 2
    assert not file.exists()
    assert main([*words, "supervisor", "--agent", "boss", "--agent", "deputy"]) == 0
    assert file.read_text().splitlines()[1:] == ["role: supervisor", "agents: ['boss', 'deputy']"]


def test_roles_that_bind_nothing_refuse_the_start_of_the_robots_side_only(tmp_path, capsys):
    (tmp_path / "hosts.yaml").write_text(
        "hosts:\n  cell: {role: robot, port: 7601}\n"
        "  desk: {role: operator, port: 7602, key: a.key}\n  spare: {role: operator, port: 7603, key: b.key}\n"
    )
    assert main(["security", "create", str(tmp_path / "a.key"), "--role", "operator"]) == 0
    assert main(["security", "create", str(tmp_path / "b.key")]) == 0
    hosts = ["--hosts", str(tmp_path / "hosts.yaml")]
    assert main(["up", "robot", *hosts]) == 2
    assert "hosts.yaml:4:" in capsys.readouterr().err
    assert main(["doctor", *hosts]) != 0
    assert "has no role" in capsys.readouterr().out
