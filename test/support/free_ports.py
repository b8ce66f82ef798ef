"""A hosts file of this machine, with ports that nobody uses."""

import socket


def free_ports(count):
    made = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in made:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in made]
    for one in made:
        one.close()
    return ports


def write_loopback_hosts(folder, more="", of_desk=""):
    cell, desk = free_ports(2)
    rows = f"  cell: {{role: robot, port: {cell}}}\n  desk: {{role: operator, port: {desk}{of_desk}}}\n"
    file = folder / "hosts.yaml"
    file.write_text(f"{more}hosts:\n{rows}")
    return file
