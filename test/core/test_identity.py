"""Who sends: one identity for each process and role, and its role read back."""

import os
import socket

import pytest

from telerobot_nodes.core.protocol import HaltId, identity, role_of


def test_an_identity_names_host_role_and_life_and_stays_the_same():
    host, role, life = identity("console").split("/")
    assert (host, role) == (socket.gethostname(), "console")
    assert len(bytes.fromhex(life)) == 8
    assert identity("console") == identity("console")
    assert identity("shell").split("/")[2] == life


def test_a_fork_has_a_life_of_its_own():
    mine = identity("shell")
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writes, identity("shell").encode())
        os._exit(0)
    os.waitpid(child, 0)
    other = os.read(reads, 500).decode()
    os.close(reads)
    os.close(writes)
    assert role_of(other) == "shell"
    assert other != mine
    assert identity("shell") == mine


@pytest.mark.parametrize(
    ("sender", "role"),
    [("cell7/shell/0a1b", "shell"), ("anna", "anna"), ("", ""), ("a/b", "a/b"), ("a/b/c/d", "a/b/c/d")],
)
def test_a_sender_without_an_identity_is_its_own_role(sender, role):
    assert role_of(sender) == role


def test_the_halt_of_a_text_is_not_that_of_a_button_with_the_same_number():
    assert HaltId.of_text("cell7/shell/0a1b", 3) != HaltId("cell7/shell/0a1b", 3)
    assert HaltId.of_text("cell7/shell/0a1b", 3) == HaltId.of_text("cell7/shell/0a1b", 3)
