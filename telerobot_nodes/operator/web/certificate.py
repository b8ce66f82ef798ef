"""The console's certificate: one PEM file with key and certificate, made here for addresses of this host, or brought.

A browser does not know who made it, and asks once; the fingerprint that was printed is what a person compares.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
import stat
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from telerobot_nodes.errors import InvalidValueError

if TYPE_CHECKING:
    from cryptography.x509 import GeneralName

DAYS = 397  # longest that browsers accept of a server
_FIELD = "certificate"


def create_certificate(file: Path, addresses: Sequence[str]) -> str:
    """Write a new key, and a certificate for `addresses` (numbers or names), mode 600; returns the fingerprint.

    Raises InvalidValueError when the file is there already, or cannot be written, or the package is missing.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise InvalidValueError(_FIELD, "not made", "needed: the package cryptography") from None
    if not addresses:
        raise InvalidValueError("address", "none", "allowed: one or more, as browsers will open the console")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Telerobot console")])
    begin = datetime.now(timezone.utc) - timedelta(hours=1)  # clocks of two hosts differ
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([_name(one) for one in addresses]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    _write(file, key.private_bytes(pem, *plain) + made.public_bytes(pem))
    return _text(made.fingerprint(hashes.SHA256()))


def server_context(file: Path) -> ssl.SSLContext:
    """TLS of a server with this certificate. Raises InvalidValueError when it cannot be used."""
    try:
        mode = file.stat().st_mode
    except OSError as error:
        raise InvalidValueError(_FIELD, str(file), f"allowed: a PEM file with key and certificate ({error})") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        problem = "allowed: mode 600, for it holds the key"
        raise InvalidValueError(_FIELD, f"{file}, mode {mode & 0o777:o}", problem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(file)
    except (OSError, ssl.SSLError) as error:
        problem = f"allowed: a PEM file with key and certificate that belong together ({error})"
        raise InvalidValueError(_FIELD, str(file), problem) from None
    return context


def _name(address: str) -> GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        pass
    try:
        return x509.DNSName(address)
    except ValueError:
        raise InvalidValueError("address", address, "allowed: a number or a name") from None


def _write(file: Path, content: bytes) -> None:
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(content)
    except FileExistsError:
        raise InvalidValueError(_FIELD, str(file), "allowed: a file that is not there yet") from None
    except OSError as error:
        raise InvalidValueError(_FIELD, str(file), f"allowed: a place to write to ({error})") from None


def _text(fingerprint: bytes) -> str:
    return ":".join(f"{byte:02X}" for byte in fingerprint)
