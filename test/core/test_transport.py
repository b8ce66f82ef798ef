"""Which transport the project's processes use, and what of the user's environment stays in force."""

from xml.etree import ElementTree

import pytest

from telerobot_nodes.core.config import (
    DISCOVERY,
    PROFILES,
    check_transport_environment,
    found_quickly_environment,
    is_loopback,
    share_path,
    transport_environment,
)
from telerobot_nodes.errors import InvalidValueError

QUIET = {DISCOVERY: "LOCALHOST"}


@pytest.mark.parametrize("base", [{}, {DISCOVERY: ""}, QUIET, {"RMW_IMPLEMENTATION": "rmw_fastrtps_cpp"}])
def test_by_default_udp_on_loopback_without_shared_memory(base):
    added = transport_environment(base)
    assert added[DISCOVERY] == "SYSTEM_DEFAULT" and is_loopback(added)
    for again in (added, {**added, DISCOVERY: "LOCALHOST"}):  # of a process that it starts
        assert {**again, **transport_environment(again)} == added


@pytest.mark.parametrize(
    "own",
    [
        {DISCOVERY: "SUBNET"},
        {DISCOVERY: "OFF"},
        {DISCOVERY: "SYSTEM_DEFAULT"},
        {PROFILES[0]: "mine.xml"},
        {PROFILES[1]: "mine.xml"},
        {"ROS_STATIC_PEERS": "10.0.0.2"},
        {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"},
    ],
)
def test_what_the_user_chose_stays(own):
    assert transport_environment(own) == {DISCOVERY: own.get(DISCOVERY, "LOCALHOST")}


def test_a_range_of_the_users_own_stays_beside_our_profile():
    ours = transport_environment({})
    assert transport_environment({**ours, DISCOVERY: "SUBNET"}) == {DISCOVERY: "SUBNET"}


def test_a_process_is_found_quickly_on_loopback_and_where_no_profile_was_chosen():
    assert found_quickly_environment(transport_environment({})) == {}
    assert not is_loopback(found_quickly_environment({}))
    assert found_quickly_environment({PROFILES[1]: "mine.xml"}) == {}
    for name in ("udp_loopback", "fastdds"):
        root = ElementTree.parse(share_path(f"config/{name}.xml")).getroot()
        space = "{" + root.tag[1:].partition("}")[0] + "}"
        period = root.find(f".//{space}leaseAnnouncement")
        assert (period.findtext(f"{space}sec"), period.findtext(f"{space}nanosec")) == ("0", "200000000")
        repair = root.find(f".//{space}data_writer[@is_default_profile='true']//{space}heartbeatPeriod")
        assert (repair.findtext(f"{space}sec"), repair.findtext(f"{space}nanosec")) == ("0", "100000000")


def test_the_profile_names_one_transport_on_loopback():
    root = ElementTree.parse(share_path("config/udp_loopback.xml")).getroot()
    space = "{" + root.tag[1:].partition("}")[0] + "}"
    assert [one.text for one in root.iter(f"{space}type")] == ["UDPv4"]
    assert {one.text for one in root.iter(f"{space}address")} == {"127.0.0.1"}
    assert [one.text for one in root.iter(f"{space}useBuiltinTransports")] == ["false"]


def test_a_profile_that_the_middleware_would_silently_leave_out_is_refused(tmp_path):
    file = tmp_path / "profile.xml"
    for text in (None, "<dds><profiles>", "<html/>"):
        if text is not None:
            file.write_text(text)
        for name in PROFILES:
            with pytest.raises(InvalidValueError, match=f"{name}.*profile.xml"):
                check_transport_environment({name: str(file)})
    check_transport_environment({PROFILES[0]: str(share_path("config/udp_loopback.xml"))})
    check_transport_environment({})


def test_security_that_may_silently_be_none_is_refused():
    secured = {"ROS_SECURITY_ENABLE": "true"}
    for strategy in ("", "Permissive", "enforce"):
        with pytest.raises(InvalidValueError, match=r"allowed.*Enforce"):
            check_transport_environment({**secured, "ROS_SECURITY_STRATEGY": strategy})
    check_transport_environment({**secured, "ROS_SECURITY_STRATEGY": "Enforce"})
    check_transport_environment({"ROS_SECURITY_STRATEGY": "Permissive"})
