"""The web server under the console: on loopback, next free port when busy, only for pages it served itself."""

from __future__ import annotations

import contextlib
import functools
import io
import ipaddress
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

from telerobot_nodes.core.validation import in_range
from telerobot_nodes.errors import InvalidValueError

_LOCAL_PAGES = re.compile(r"https?://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?")
_PATCH = threading.Lock()


def start_server(host: str = "127.0.0.1", port: int = 8080) -> Any:
    """A viser server on `host`, at `port` or the next free one (0: any).

    On loopback, pages of other sites are turned away: a browser lets any page talk to local ports, and this one
    can move an arm. Raises InvalidValueError when the address is not this machine's.
    """
    import viser

    in_range(port, "console port", 0, 65535)
    _check_host(host)
    with _only_own_pages(host), contextlib.redirect_stdout(io.StringIO()):  # viser greets in a box; we print one line
        return viser.ViserServer(host=host, port=int(port), verbose=False, label="Telerobot")


def url(server: Any) -> str:
    """Where the console is."""
    host = server.get_host()
    return f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"


def stop_server(server: Any) -> None:
    """End the server and its connections."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _check_host(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((host, 0))
    except (OSError, UnicodeError) as error:
        raise InvalidValueError("console host", host, f"allowed: an address of this machine ({error})") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextlib.contextmanager
def _only_own_pages(host: str) -> Iterator[None]:
    """While a viser server starts, give its websocket the list of allowed origins, which viser cannot be told."""
    if not _is_loopback(host):
        yield
        return
    import websockets.asyncio.server as transport

    with _PATCH:
        plain = transport.serve
        transport.serve = functools.partial(plain, origins=[None, _LOCAL_PAGES])  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            transport.serve = plain  # type: ignore[misc]
