"""The review server and the verbs: inputs that come from a network or a command line."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import os
import re
import shutil
import socket
import threading
import time
from pathlib import Path
from random import Random
from typing import Any

from tools.fuzz import mutations
from tools.fuzz.readers import LostError, Reader
from tools.fuzz.seeds import CLASSES, MATRIX, TABLE

PORT, TOKEN = 8123, "a-secret-of-the-tests"
SENTENCE = re.compile(r".+ must .+, got .+\n|╭─ Error .*", re.S)
FRESH = 400  # requests after which the audit is copied anew, so that its history stays short


class RequestReader(Reader):
    """Requests to the review page, as its application receives them."""

    share = 10

    def start(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.n_read = 0
        self._open()

    def _open(self) -> None:
        from ordinoise.app.review.app import review_app

        shutil.rmtree(self.scratch / "audit", ignore_errors=True)
        self.audit = Path(shutil.copytree(self.seeds / "audit", self.scratch / "audit"))
        self.app = review_app(self.audit, token=TOKEN, port=PORT)

    def draw(self, rng: Random) -> bytes:
        from ordinoise.app.review.guard import CSRF_HEADER, derived

        action = rng.choice(("decide", "decide", "note", "undo", "export", "refit"))
        body: Any = {"row": rng.choice((4, 7, 30)), "grade": rng.choice((*CLASSES, None)), "reviewer": "Ann"}
        body |= {"key": f"{rng.getrandbits(40):010x}", "note": rng.choice(("x", "", "<b>", "\ud800", "\0\x1b[2J"))}
        if rng.random() < 0.6:
            body = mutations.changed_json(body, rng)
        raw = mutations.json_bytes(body)
        path = f"/api/{action}"
        headers = [
            ["host", f"127.0.0.1:{PORT}"],
            ["cookie", f"ordinoise-review-{PORT}={derived(TOKEN, 'session')}"],
            ["origin", f"http://127.0.0.1:{PORT}"],
            [CSRF_HEADER, derived(TOKEN, "csrf")],
            ["content-type", "application/json"],
        ]
        method = "POST"
        if rng.random() < 0.3:
            method = rng.choice(("GET", "HEAD", "PUT", "OPTIONS", "DELETE", "X"))
            odd = rng.choice(("0", "4", "999", str(2**63), "9" * 5000, "-1", "x", "٣", "1e3", "..", "%00", "\0", "a/b"))
            places = (
                "/api/history/{}",
                "/api/changes/{}",
                "/picture/{}/1",
                "/static/{}",
                "/{}",
                "/api/audit",
                "/",
                "/?code={}",
            )
            path = rng.choice(places).format(odd)
        if rng.random() < 0.15:
            raw = mutations.changed_bytes(raw, rng)
        if rng.random() < 0.1:
            headers[rng.randrange(len(headers))][1] = rng.choice(("", "x", "\xff", "a" * 9999, "null"))
        if rng.random() < 0.05:
            del headers[rng.randrange(len(headers))]
        return json.dumps({"method": method, "path": path, "headers": headers, "body": raw.decode("latin-1")}).encode()

    def read(self, data: bytes) -> None:
        self.n_read += 1
        if self.n_read % FRESH == 0:
            self.close_app()
            self._open()
        store, given = self.app.state.desk.store, json.loads(data)
        before = len(store.history())
        status, headers, body = self.loop.run_until_complete(self._answer(given))
        if status >= 500 or "content-security-policy" not in headers:
            raise RuntimeError(f"status {status}: {body[:200]!r}")
        after = len(store.history())
        is_write = given["path"] in ("/api/decide", "/api/note") and given["method"] == "POST"
        if after < before or (after == before and is_write and status == 200 and not self._is_known(given)):
            raise LostError("a confirmed event is not in the file")
        if after > before and status != 200:
            raise LostError("an event that was refused is in the file")
        for made in self.seeds.glob("t.reviewed*"):
            self._check_export(made)
        if status >= 400:
            if given["method"] != "HEAD":
                json.loads(body) if headers["content-type"] == "application/json" else body.decode()
            raise ValueError("status must be below 400, got another")

    def _is_known(self, given: Any) -> bool:
        key = json.loads(given["body"].encode("latin-1"))["key"]
        return any(event.key == key for event in self.app.state.desk.store.history())

    def _check_export(self, path: Path) -> None:
        lines = path.read_text().splitlines()
        path.unlink()
        if [line.rsplit(",", 1)[0] for line in lines] != [line.rsplit(",", 1)[0] for line in TABLE.splitlines()]:
            raise LostError("the corrected file has other cells")

    async def _answer(self, given: Any) -> tuple[int, dict[str, str], bytes]:
        body, sent = given["body"].encode("latin-1"), []
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        path, _, query = given["path"].partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "scheme": "http",
            "method": given["method"], "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given["headers"]],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", PORT), "state": {},
        }  # fmt: skip

        async def receive() -> Any:
            return messages.pop() if messages else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        return sent[0]["status"], headers, b"".join(part.get("body", b"") for part in sent[1:])

    def close_app(self) -> None:
        """Close the decisions."""
        self.app.state.desk.close()

    def close(self) -> None:
        self.close_app()
        self.loop.close()


class SocketReader(Reader):
    """Bytes on a connection to the review server."""

    share = 4

    def start(self) -> None:
        from ordinoise.app.review.app import review_app
        from ordinoise.app.review.serve import _listener, _server

        self.audit = Path(shutil.copytree(self.seeds / "audit", self.scratch / "audit"))
        self.listener = _listener(0)
        self.port = self.listener.getsockname()[1]
        self.app = review_app(self.audit, token=TOKEN, port=self.port)
        self.server = _server(self.app)
        self.complaints: list[str] = []
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: self.complaints.append(record.getMessage())  # type: ignore[method-assign]
        for name in ("asyncio", "uvicorn.error", "ordinoise.app.review.guard"):
            logging.getLogger(name).addHandler(handler)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def draw(self, rng: Random) -> bytes:
        whole = [
            f"GET /?token={TOKEN} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode() * rng.choice((1, 1, 3)),
            f"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nContent-Length: 2\r\n\r\n{{}}".encode(),
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nExpect: 100-continue\r\n\r\n",
        ]
        return rng.choice(whole) if rng.random() < 0.05 else self._mutant(whole, rng)

    def read(self, data: bytes) -> None:
        found = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection, contextlib.suppress(OSError):
            connection.sendall(data.replace(str(PORT).encode(), str(self.port).encode()))
            connection.settimeout(0.01)  # an unfinished request gets no answer
            found = connection.recv(65536)
        if self.complaints:
            raise RuntimeError(self.complaints.pop())
        if found and b"content-security-policy" not in found.lower() and not found.startswith(b"HTTP/1.1 100"):
            raise RuntimeError(f"an answer without headers: {found[:100]!r}")
        if not found.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3")):
            raise ValueError("a request must be whole, got another")

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)
        self.app.state.desk.close()


class VerbReader(Reader):
    """A verb of the command line with a table, in this process."""

    share = 6.0
    verbs: tuple[str, ...] = (
        "corrupt", "corrupt", "predict", "evaluate", "judge", "plan", "data", "export", "review", "next", "reproduce", "demo",
    )  # fmt: skip
    folders: tuple[str, ...] = ("model", "audit")
    """Folders of the seeds that the verbs find beside the table."""
    options: tuple[str, ...] = (
        "--order", "1,2,3", "", ",", "--seed", "3", "x", "-1", "--rate", "nan", "9", "0.1", "--kind", "adjacent", "odd",
        "--noise", "matrix.csv", "nosuch", "none", "--json", "--target", "b", "stars", "--bogus", "--confidence", "0.9", "2",
        "--decision", "mode", "--classes", "4", "60", "--out", "out.csv", "OUT.CSV", "out.parquet", "x[/].csv", "t.csv", "\ud800", "\0",
    )  # fmt: skip

    def start(self) -> None:
        (self.scratch / "matrix.csv").write_text(MATRIX)
        for name in self.folders:
            shutil.copytree(self.seeds / name, self.scratch / name)
        self.before = self._content()

    def _content(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(self.scratch.rglob("*")) if path.is_file()}

    def draw(self, rng: Random) -> bytes:
        table = TABLE.encode() if rng.random() < 0.3 else mutations.drawn_csv(rng)
        table = mutations.changed_bytes(table, rng) if rng.random() < 0.3 else table
        verb = rng.choice(self.verbs)
        words = {
            "corrupt": ["t.csv", "--target", "stars", "--out", "out.csv"], "predict": ["model", "t.csv"],
            "evaluate": ["model", "t.csv"], "plan": ["--classes", str(rng.randint(-1, 12)), "--rate", str(rng.random())],
            "data": [rng.choice(("list", "wine", "", "toy"))], "export": ["t.csv", "out.onnx"], "review": ["t.csv", "--no-browser"],
            "judge": ["t.csv", "--judge", "stars", "--human", rng.choice(("stars", "a", "size")), "--by", "colour", "--out", "made"],
            "next": ["audit", "--budget", str(rng.randint(-1, 70))], "reproduce": [rng.choice(("", "table3", "x"))],
            "demo": ["--splits", rng.choice(("0", "-1", "x"))],
            "raters": ["t.csv", "--item", "size", "--rater", "colour", "--grade", "stars", "--out", "made"],
            "check": ["t.csv", "--target", "stars", "--max-wrong", "0.2", "--learner", "mlp", "--noise", "none", "--jobs", "1"],
            "fit": ["t.csv", "--target", "stars", "--out", "made", "--learner", "mlp", "--noise", "none", "--jobs", "1"],
            "audit": ["t.csv", "--target", "stars", "--out", "made", "--learner", "mlp", "--noise", "none", "--jobs", "1"],
            "noise": ["t.csv", "--target", "stars", "--learner", "mlp", "--jobs", "1"],
        }[verb]  # fmt: skip
        more = [rng.choice(self.options) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
        return json.dumps({"words": [verb, *words, *more], "table": table.decode("latin-1")}).encode()

    def read(self, data: bytes) -> None:
        os.chdir(self.scratch)
        given = json.loads(data)
        table = given["table"].encode("latin-1")
        files = {name: text.encode("latin-1") for name, text in given.get("files", {}).items()}
        changed = {str(self.scratch / name): content for name, content in {"t.csv": table, **files}.items()}
        for path, content in {**self.before, **changed}.items():
            Path(path).write_bytes(content)
        before = {**self.before, **changed}
        code, said = self._run(given["words"])
        after = self._content()
        made = self._cleared(after, before)
        if any(after.get(path) != content for path, content in before.items()):
            raise LostError("a file that was there has changed")
        is_answer = code in (0, 2) or (code in (1, 3) and given["words"][0] == "check")
        if not is_answer or "Traceback" in said or "ordinoise failed with" in said:
            raise RuntimeError(f"exit code {code}: {said[-300:]}")
        if code == 2:
            if made:
                raise LostError(f"a verb that failed left {sorted(made)[0]}")
            if not SENTENCE.fullmatch(said):
                raise RuntimeError(f"no sentence: {said[-300:]}")
            raise ValueError("words must be right, got others")
        if given["words"][0] == "corrupt":
            self._compare(given["words"], made, table)

    def _run(self, words: list[str]) -> tuple[int, str]:
        from ordinoise.app.cli import main

        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(words)
            except SystemExit as ending:
                code = int(ending.code or 0)
        return code, err.getvalue()

    def _cleared(self, after: dict[str, bytes], before: dict[str, bytes]) -> dict[str, bytes]:
        """The files that a verb made, which are removed."""
        made = {path: content for path, content in after.items() if path not in before}
        for path in made:
            Path(path).unlink()
        shutil.rmtree(self.scratch / "made", ignore_errors=True)
        for name, content in before.items():
            if after.get(name) != content:
                Path(name).write_bytes(content)
        return made

    def _compare(self, words: list[str], made: dict[str, bytes], table: bytes) -> None:
        """All cells but the grades are in the copy."""
        from ordinoise.app.tables import read_text

        texts = {path: content for path, content in made.items() if path.endswith(".csv")}
        for path, content in texts.items():
            (self.scratch / "t.csv").write_bytes(table)
            Path(path).write_bytes(content)
            target = next(word for at, word in reversed([*enumerate(words)]) if words[at - 1] == "--target")
            one, other = (read_text(name).drop(target) for name in ("t.csv", path))
            Path(path).unlink()
            if not one.equals(other):
                raise LostError("a copy with noise has other cells")


class LearnReader(VerbReader):
    """A verb that learns from a table, which takes longer."""

    share, seconds = 0.2, 120.0
    verbs = ("fit", "audit", "noise", "check", "raters")
