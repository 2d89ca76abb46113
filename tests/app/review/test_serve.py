import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from app.review.server import TOKEN, Server, stand_in
from ordinoise.app.cli import main
from ordinoise.app.review import serve
from ordinoise.app.review.lock import LOCK, held


def test_it_serves_this_computer_prints_nothing_and_ends_with_ctrl_c(audit: Path) -> None:
    server = Server(audit)
    with httpx.Client(follow_redirects=True, timeout=20) as client:
        assert client.get(server.address).status_code == 200
        assert "server" not in client.get(f"{server.origin}/static/main.js").headers
        assert httpx.get(server.origin).status_code == 403
        # Reached under any other address of this computer, there is nobody.
        with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.2", server.port), timeout=2):
            pass
        assert server.end(signal.SIGINT) == 0
    assert server.output.read_text() == ""


def test_a_missing_extra_is_one_sentence(audit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ImportError, match=r'needs Starlette and uvicorn; pip install "ordinoise\[review\]"'):
        serve(audit)


@pytest.mark.parametrize("port", ["taken", 70000, -1])
def test_a_port_that_cannot_be_had_is_one_sentence(audit: Path, port: int | str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(ValueError, match="port must be free on this computer"):
            serve(audit, port=other.getsockname()[1] if port == "taken" else int(port))


def test_a_folder_without_an_audit_is_one_sentence(tmp_path: Path) -> None:
    told: list[str] = []
    with pytest.raises(ValueError, match="folder must hold a readable audit"):
        serve(tmp_path, on_ready=told.append)
    assert told == []
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_cannot_be_kept_is_refused_at_once(audit: Path) -> None:
    with pytest.raises(ValueError, match="reviewer must be a name of 1 to 60 characters, got 61"):
        serve(audit, reviewer="x" * 61)


def test_the_store_alone_loads_no_server_and_no_learner() -> None:
    probe = "import ordinoise.app.review, sys; print(*{'starlette', 'uvicorn', 'sklearn', 'scipy', 'polars'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_every_address_has_a_secret_of_its_own(audit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    monkeypatch.setattr(uvicorn.Server, "run", lambda self, **_: self.config.app.state.desk.close())
    told: list[str] = []
    for _ in range(2):
        serve(audit, on_ready=told.append)
    secrets = [address.partition("?token=")[2] for address in told]
    assert len(set(secrets)) == 2
    assert all(len(secret) >= 43 for secret in secrets)
    assert all(address.startswith("http://127.0.0.1:") for address in told)


def test_a_second_server_of_an_audit_ends_with_a_sentence_that_names_the_first(audit: Path) -> None:
    server = Server(audit)
    told: list[str] = []
    with pytest.raises(ValueError, match="folder must be reviewed by one server at a time") as refusal:
        serve(audit, on_ready=told.append)
    assert f"process {server.process.pid} at {server.origin}" in str(refusal.value)
    assert TOKEN not in str(refusal.value)
    assert told == []
    assert httpx.get(server.address).status_code == 303
    # A killed process leaves its lock file, but not its lock.
    server.kill()
    assert str(server.process.pid) in (audit / LOCK).read_text()
    server.start()
    assert httpx.get(server.address).status_code == 303
    assert server.end(signal.SIGINT) == 0
    assert (audit / LOCK).read_text() == ""


def test_the_command_ends_with_that_sentence(
    audit: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ordinoise.app.verbs.review.refit_of", lambda _: stand_in)
    with held(audit, "http://127.0.0.1:4000"), pytest.raises(SystemExit) as end:
        main(["review", str(audit), "--no-browser"])
    assert end.value.code == 2
    words = "".join(capsys.readouterr().err.split())
    assert f"process{os.getpid()}athttp://127.0.0.1:4000" in words


def test_a_lock_file_is_never_a_link(audit: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (audit / LOCK).symlink_to(tmp_path / "precious")
    with pytest.raises(ValueError, match="folder must hold a lock file"), held(audit, "http://127.0.0.1:4000"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_hang_up_ends_the_server_as_ctrl_c_does(audit: Path) -> None:
    server = Server(audit)
    with httpx.Client(follow_redirects=True, timeout=20) as client:
        assert client.get(server.address).status_code == 200
        # The process itself has no handler: it is ended by the signal, after everything is closed.
        assert server.end(signal.SIGHUP) == -signal.SIGHUP
    assert server.output.read_text() == ""
    assert (audit / LOCK).read_text() == ""
    assert sorted(path.name for path in audit.iterdir()) == ["audit.json", "decisions.sqlite", LOCK]


def test_a_hang_up_is_ignored_under_nohup(audit: Path) -> None:
    server = Server(audit, ignored=(signal.SIGHUP,))
    assert server.process.pid is not None
    os.kill(server.process.pid, signal.SIGHUP)
    assert httpx.get(server.address).status_code == 303
    assert server.end(signal.SIGINT) == 0


def test_an_audit_without_its_options_is_one_sentence(audit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads((audit / "audit.json").read_text())
    (audit / "audit.json").write_text(json.dumps(record | {"settings": {}}))
    with pytest.raises(SystemExit) as end:
        main(["review", str(audit), "--no-browser"])
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("folder must hold the options of its audit, got 'order'")
