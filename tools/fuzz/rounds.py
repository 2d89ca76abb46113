"""What comes back from people: exports of Label Studio, and folders of audits and of raters between two rounds."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from tools.fuzz import mutations
from tools.fuzz.doors import VerbReader
from tools.fuzz.readers import LostError, TableReader
from tools.fuzz.seeds import TABLE, read_json

FILES = ("audit/labels.csv", "audit/next-1.json", "audit/audit.json", "rated/raters.json")


class TasksReader(TableReader):
    """A Label Studio export, as a table of one grade per task and as ratings of several people."""

    share, name = 3.0, "t.json"

    def drawn(self, rng: Random) -> bytes:
        whole = read_json(self.seeds / self.name)
        if rng.random() < 0.5:  # an audit takes one annotation for each task
            whole = [{**task, "annotations": task["annotations"][:1]} for task in whole]
        return mutations.json_bytes(mutations.changed_json(whole, rng))

    def read(self, data: bytes) -> None:
        from ordinoise.app.tables import ColumnRoles, graded_table
        from ordinoise.app.tables.ratings import exported_ratings

        path = self._written(self.name, data)
        exported_ratings(path, None, None, None)
        graded_table(path, ColumnRoles("stars"))
        if path.read_bytes() != data:
            raise LostError("reading changed the file")


class RoundsReader(VerbReader):
    """``next`` and ``check`` on the folder of an audit or of raters, one file of which was edited."""

    share, seconds = 1.0, 120.0
    verbs = ("next", "next", "check")
    folders = ("audit", "rated")
    options = (
        "--budget", "1", "3", "0", "-1", "60", str(2**63), "x", "--spot-check", "--repeat", "--confidence", "0.5", "1",
        "--seed", "7", "--max-wrong", "0.3", "nan", "--if-unknown", "pass", "--junit", "out.xml", "t.csv", "--json",
    )  # fmt: skip

    def draw(self, rng: Random) -> bytes:
        verb, file = rng.choice(self.verbs), rng.choice(FILES)
        folder = Path(file).parent.name if rng.random() < 0.9 else "nosuch"
        words = {
            "next": [folder],
            "check": ["t.csv", "--target", "stars", "--learner", "mlp", "--noise", "none", "--jobs", "1", "--max-wrong", "0.2", "--reviewed", folder],
        }[verb]  # fmt: skip
        more = [rng.choice(self.options) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
        edited = {file: self._edited(file, rng).decode("latin-1")} if rng.random() < 0.8 else {}
        return json.dumps({"words": [verb, *words, *more], "table": TABLE, "files": edited}).encode()

    def _edited(self, file: str, rng: Random) -> bytes:
        whole = (self.seeds / file).read_bytes()
        if file.endswith(".csv") or rng.random() < 0.1:
            return mutations.changed_bytes(whole, rng)
        return mutations.json_bytes(mutations.changed_json(json.loads(whole), rng))
