"""Pages for this host's user only: a browser shows his token once, in the address, and a cookie from then on.

One token for all consoles of a user, so that an open page reaches a console that was started again, and one console
leads to another.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from telerobot_nodes._user_folders import user_state
from telerobot_nodes.errors import InvalidValueError

COOKIE = "telerobot_console"
QUERY = "token"
FEWEST = 16  # characters of a token
_AGE = 30 * 86_400  # [s] for which a browser keeps it
_FORM = """<!doctype html><meta charset="utf-8"><title>Telerobot</title>
<body style="font: 16px sans-serif; background: #1f2430; color: #e6e9ef; margin: 4em">
<h1>Who are you?</h1>{wrong}<p>Open the address that the console has printed where it was started, or give its token:
the text in <code>{file}</code> on that host.</p>
<form method="get" action="/"><input name="token" autocomplete="off" autofocus size="40"> <button>open</button></form>
"""
_WRONG = "<p><strong>That is not the token of this console.</strong></p>"

Answer = Callable[[Any, Any], Any]


def token_file() -> Path:
    """Where the token of this user is kept."""
    return user_state("console.token")


def user_token() -> str:
    """The token of this user, made when there is none. Raises InvalidValueError when others may read it."""
    file = token_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            _create(file)
    except OSError as error:
        raise InvalidValueError(f"{file}", "not writable", f"allowed: a place for the token ({error})") from None
    return _kept_token(file)


def _create(file: Path) -> None:
    """Write a new token, whole; whoever was first wins."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as out:
        out.write(secrets.token_urlsafe(24) + "\n")
    with contextlib.suppress(FileExistsError):
        os.link(draft, file)
    draft.unlink()


def _kept_token(file: Path) -> str:
    try:
        state, token = file.stat(), file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{file}", "not readable", f"allowed: a token ({error})") from None
    if state.st_mode & (stat.S_IRWXG | stat.S_IRWXO) or state.st_uid != os.getuid():
        raise InvalidValueError(f"{file}", f"mode {state.st_mode & 0o777:o}", "allowed: mode 600, of this user")
    if len(token) < FEWEST or quote(token, safe="") != token:
        problem = f"allowed: {FEWEST} or more letters, digits, - and _; delete the file for a new one"
        raise InvalidValueError(f"{file}", f"{len(token)} characters", problem)
    return token


class TokenGate:
    """Lets pages and their connections in that show the token; whoever opens a page without it is asked for it."""

    def __init__(self, token: str, secure: bool = False) -> None:
        """Empty `token`: everybody is let in. `secure`: the browser keeps it for encrypted connections only."""
        self._token = token
        self._kept = f"{COOKIE}={token}; Path=/; Max-Age={_AGE}; HttpOnly; SameSite=Lax{'; Secure' * secure}"

    def address(self, url: str) -> str:
        """The address with which a browser gets in."""
        return f"{url}/?{QUERY}={self._token}" if self._token else url

    def guarded(self, answer: Answer) -> Answer:
        """A server of pages like `answer`, for those who are let in."""

        def process(connection: Any, request: Any) -> Any:
            if not self._token or self._matches(_cookie(request.headers)):
                return answer(connection, request)
            where = urlsplit(request.path)
            shown = parse_qs(where.query).get(QUERY, [""])[0]
            if self._matches(shown):
                return _response(303, "See Other", "", {"Location": where.path or "/", "Set-Cookie": self._kept})
            form = _FORM.format(file=token_file(), wrong=_WRONG if shown else "")
            return _response(403, "Forbidden", form if where.path == "/" else "the token of the console is needed\n")

        return process

    def _matches(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode(), self._token.encode())


def _cookie(headers: Any) -> str:
    """The token that a browser keeps; empty: none."""
    for line in headers.get_all("Cookie"):
        try:
            found = SimpleCookie(line).get(COOKIE)
        except CookieError:
            continue
        if found is not None:
            return found.value
    return ""


def _response(status: int, reason: str, page: str, more: dict[str, str] | None = None) -> Any:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    body = page.encode()
    kind = "text/html; charset=utf-8" if page.startswith("<!doctype") else "text/plain"
    fixed = {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store", "Connection": "close"}
    return Response(status, reason, Headers({**fixed, **(more or {})}), body)
