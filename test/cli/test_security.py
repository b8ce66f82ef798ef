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
