"""The way from the command line into the browser: no secret in an argument, and a code that works once."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pytest

from app.review.client import ORIGIN, TOKEN, Client
from app.review.server import Server, stand_in
from ordinoise.app.cli import main
from ordinoise.app.review import door as door_module
from ordinoise.app.review.door import Door


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    door = Door()
    yield door
    door.close()


def _path(uri: str) -> Path:
    assert uri.startswith("file:///")
    return Path(unquote(urlsplit(uri).path))


def _code(path: Path) -> str:
    [code] = set(re.findall(r"\?code=([\w-]{43})\"", path.read_text()))
    return str(code)


def test_the_file_is_readable_by_its_user_only_and_its_name_tells_nothing(door: Door) -> None:
    before = os.umask(0)
    try:
        uri = door.open(ORIGIN)
    finally:
        os.umask(before)
    path = _path(uri)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert _code(path) not in uri


def test_a_code_admits_once_and_its_file_is_removed(door: Door, audit: Path) -> None:
    client = Client(audit, door=door)
    client.cookies.clear()
    path = _path(door.open(ORIGIN))
    code = _code(path)
    for wrong in ("", "wrong", code[:-1], code + "x", "%F0%9F%90%88", TOKEN):
        assert client.get(f"/?code={wrong}").status_code == 403
    assert path.exists()
    assert client.request("POST", f"/?code={code}").status_code == 403
    answer = client.get(f"/?code={code}")
    assert answer.status_code == 200
    assert 'http-equiv="refresh" content="0; url=/"' in answer.text
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(answer.headers["set-cookie"].split("; "))
    assert not path.parent.exists()
    name, value = answer.headers["set-cookie"].split(";")[0].split("=")
    again = client.get(f"/?code={code}")
    assert (again.status_code, "set-cookie" in again.headers) == (403, False)
    client.cookies[name] = value
    assert client.get("/").status_code == 200
    [icon] = re.findall(r'rel="icon" href="([^"]+)"', answer.text)  # or else a browser asks for one that is not there
    assert client.get(icon).status_code == 200
    client.close()


def test_a_code_expires(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module, "SECONDS_OPEN", 0.05)
    path = _path(door.open(ORIGIN))
    code = _code(path)
    deadline = time.monotonic() + 10
    while path.parent.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not path.parent.exists()
    assert not door.admits(code)


def test_an_old_code_does_not_expire_a_new_one(door: Door) -> None:
    first, second = (_code(_path(door.open(ORIGIN))) for _ in range(2))
    door._expire(first)
    assert not door.admits(first)
    assert door.admits(second)


def test_without_a_door_no_code_opens(client: Client) -> None:
    client.cookies.clear()
    for code in ("", "None", TOKEN):
        assert client.get(f"/?code={code}").status_code == 403


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["words", "json"])
def test_the_browser_is_given_no_secret_and_the_terminal_a_whole_address(
    options: list[str],
    audit: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import uvicorn

    def visit(self: uvicorn.Server, **_: object) -> None:
        assert _path(opened[0]).exists()

    opened: list[str] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("ordinoise.app.verbs.review.refit_of", lambda _: stand_in)
    monkeypatch.setattr(uvicorn.Server, "run", visit)
    monkeypatch.setenv("COLUMNS", "40")
    with pytest.raises(SystemExit) as end:
        main(["review", str(audit), *options])
    assert end.value.code == 0
    said = capsys.readouterr().out
    address = json.loads(said)["address"] if options else said.splitlines()[0].removeprefix("Review page: ")
    token = address.partition("?token=")[2]
    assert len(token) == 43
    [uri] = opened
    assert token not in uri
    assert "http" not in uri
    assert not _path(uri).parent.exists()


def test_a_server_that_ends_removes_the_file(audit: Path) -> None:
    server = Server(audit)
    path = _path(server.file)
    assert path.exists()
    assert server.end(signal.SIGINT) == 0
    assert not path.parent.exists()


@pytest.mark.slow
def test_no_process_of_the_command_has_a_secret_in_its_arguments(audit: Path, tmp_path: Path) -> None:
    recorder = tmp_path / "recorder.sh"
    recorder.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/argv.txt\ncat "$(echo "$1" | sed s,^file://,,)" > {tmp_path}/page.html\n'
    )
    recorder.chmod(0o755)
    words = [sys.executable, "-u", "-m", "ordinoise.app.cli", "review", str(audit)]
    running = subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=os.environ | {"BROWSER": str(recorder), "TMPDIR": str(tmp_path)}
    )
    try:
        assert running.stdout is not None
        address = running.stdout.readline().split()[-1]
        deadline = time.monotonic() + 30
        while not (tmp_path / "page.html").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        code, origin = _code(tmp_path / "page.html"), address.partition("/?")[0]
        seen = (tmp_path / "argv.txt").read_text() + Path(f"/proc/{running.pid}/cmdline").read_text()
        assert address.partition("token=")[2] not in seen
        assert code not in seen
        assert [httpx.get(f"{origin}/?code={code}", timeout=20).status_code for _ in range(2)] == [200, 403]
        assert httpx.get(address).status_code == 303
    finally:
        running.kill()
        running.communicate()
