"""The web server of the console: address and port."""

import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.web import Served, StopBar, start_server


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host", "127.0.0.1.5"])
def test_an_address_that_is_not_ours_is_refused_by_name(host):
    with pytest.raises(InvalidValueError, match="console host"):
        start_server(host, 0, Served(StopBar(print)))


@pytest.mark.parametrize("port", [-1, 70000, float("nan")])
def test_a_port_out_of_range_is_refused(port):
    with pytest.raises(InvalidValueError, match="console port"):
        start_server("127.0.0.1", port, Served(StopBar(print)))
