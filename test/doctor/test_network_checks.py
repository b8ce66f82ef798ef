"""What connects the nodes: settings of the shell, ports, hosts file; each wrong one is named with what is allowed."""

import socket
from pathlib import Path

import pytest

from telerobot_nodes.core.config import DISCOVERY, share_path, transport_environment
from telerobot_nodes.doctor import Verdict
from telerobot_nodes.doctor import network_checks as checks
from telerobot_nodes.link import create_key


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("", Verdict.OK), ("0", Verdict.OK), ("101", Verdict.OK)]
    + [(text, Verdict.WRONG) for text in ("102", "-1", "seven", "1.5", "²")],
)
def test_a_domain_is_a_number_that_dds_has_ports_for(text, verdict):
    finding = checks.domain({"ROS_DOMAIN_ID": text})
    assert finding.verdict is verdict
    assert bool(finding.advice) == (verdict is Verdict.WRONG)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [("", Verdict.OK), ("LOCALHOST", Verdict.OK), ("SUBNET", Verdict.CARE), ("localhost", Verdict.WRONG)],
)
def test_a_discovery_that_shows_the_arm_to_the_network_is_named(value, verdict):
    assert checks.discovery({DISCOVERY: value}).verdict is verdict


def test_the_projects_own_transport_shows_the_arm_to_nobody():
    assert checks.discovery(transport_environment({})).verdict is Verdict.OK
    assert checks.discovery({DISCOVERY: "SYSTEM_DEFAULT"}).verdict is Verdict.CARE


def test_the_shipped_profile_is_one_and_a_broken_or_missing_one_is_not(tmp_path):
    broken, other = tmp_path / "broken.xml", tmp_path / "other.xml"
    broken.write_text("<profiles>")
    other.write_text("<robot/>")
    name = "FASTRTPS_DEFAULT_PROFILES_FILE"
    assert checks.middleware({}).verdict is Verdict.OK
    assert checks.middleware({name: str(share_path("config/fastdds.xml"))}).verdict is Verdict.OK
    for file, word in ((broken, "not readable"), (other, "<robot>"), (tmp_path / "none.xml", "not readable")):
        finding = checks.middleware({name: str(file)})
        assert finding.verdict is Verdict.WRONG
        assert str(file) in finding.found
        assert word in finding.advice


def test_another_middleware_is_named():
    assert checks.middleware({"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}).verdict is Verdict.CARE


@pytest.mark.parametrize(
    ("text", "verdict"), [("212992\n", Verdict.CARE), ("4194304\n", Verdict.OK), ("?", Verdict.CARE)]
)
def test_sockets_that_hold_too_little_are_named_with_the_setting(tmp_path, text, verdict):
    (tmp_path / "rmem_max").write_text(text)
    finding = checks.sockets(tmp_path / "rmem_max")
    assert finding.verdict is verdict
    assert ("sysctl -w net.core.rmem_max=2097152" in finding.advice) == text.startswith("212992")
    assert checks.sockets(tmp_path / "none").verdict is Verdict.CARE


def test_the_sockets_are_judged_by_what_the_nodes_ask_for():
    assert f"<receiveBufferSize>{checks.SOCKET_BUFFER}<" in share_path("config/udp_loopback.xml").read_text()


def test_sros_needs_its_keystore(tmp_path):
    assert checks.security({}).verdict is Verdict.OK
    assert checks.security({"ROS_SECURITY_ENABLE": "true"}).verdict is Verdict.WRONG
    there = {"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_KEYSTORE": str(tmp_path)}
    assert checks.security(there).verdict is Verdict.OK


def test_a_port_in_use_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        other.listen()
        finding = checks.console_port(port)
        assert finding.verdict is Verdict.CARE
        assert str(port) in finding.found


HOSTS = """hosts:
  arm: {{role: robot, port: {port}, address: {address}}}
  desk: {{role: operator, port: 7699}}
key: {key}
"""


def hosts_file(folder: Path, address="127.0.0.1", port=7698, mode=0o600):
    file, key = folder / "hosts.yaml", folder / "key"
    file.write_text(HOSTS.format(address=address, port=port, key=key))
    create_key(key)
    key.chmod(mode)
    return file


def test_a_good_hosts_file_shows_this_hosts_address(tmp_path):
    finding = checks.hosts_file(hosts_file(tmp_path), "robot")
    assert (finding.verdict, finding.found) == (Verdict.OK, "arm: 127.0.0.1:7698")


def test_a_port_of_the_link_in_use_is_wrong(tmp_path):
    with socket.socket(type=socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        file = hosts_file(tmp_path, port=other.getsockname()[1])
        assert checks.hosts_file(file, "robot").verdict is Verdict.WRONG


@pytest.mark.parametrize(
    ("change", "word"),
    [({"address": "192.0.2.7"}, "not of this host"), ({"mode": 0o644}, "mode 600"), ({"port": 80}, "1024")],
)
def test_a_hosts_file_that_cannot_work_is_wrong_with_the_reason(tmp_path, change, word):
    finding = checks.hosts_file(hosts_file(tmp_path, **change), "robot")
    assert finding.verdict is Verdict.WRONG
    assert word in finding.advice


def test_one_of_several_operators_is_examined_by_its_name(tmp_path):
    file = hosts_file(tmp_path)
    file.write_text(file.read_text().replace("key:", "  other: {role: operator, port: 7697}\nkey:"))
    assert checks.hosts_file(file, "operator").verdict is Verdict.WRONG
    finding = checks.hosts_file(file, "operator", "other")
    assert (finding.verdict, finding.found) == (Verdict.OK, "other: 127.0.0.1:7697")


def test_a_hosts_file_that_is_missing_or_has_no_such_host_is_wrong(tmp_path):
    assert checks.hosts_file(tmp_path / "none.yaml", "robot").verdict is Verdict.WRONG
    assert checks.hosts_file(share_path("config/hosts/loopback.yaml"), "nobody").verdict is Verdict.WRONG
