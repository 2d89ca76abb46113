"""A client without a network, for the rules of the server."""

import asyncio
import json
import secrets
from pathlib import Path
from typing import Any

import httpx

from ordinoise.app.review.app import review_app
from ordinoise.app.review.door import Door
from ordinoise.app.review.guard import CSRF_HEADER, derived
from ordinoise.app.review.refit import Refit

PORT = 8123
ORIGIN = f"http://127.0.0.1:{PORT}"
TOKEN = "a-secret-of-the-tests"


class Client:
    """A browser that was given the address; every ingredient of a request can be changed or left out."""

    def __init__(
        self, folder: Path, refit: Refit | None = None, reviewer: str | None = None, door: Door | None = None
    ) -> None:
        self.app = review_app(folder, token=TOKEN, port=PORT, refit=refit, reviewer=reviewer, door=door)
        self.cookies = {f"ordinoise-review-{PORT}": derived(TOKEN, "session")}

    def close(self) -> None:
        self.app.state.desk.close()

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request with nothing but what is given."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
                return await client.request(method, path, **more)

        return asyncio.run(send())

    def get(self, path: str, *, headers: dict[str, str] | None = None) -> httpx.Response:
        return self.request("GET", path, headers=self._with_cookies(headers or {}))

    def post(
        self,
        path: str,
        body: object = None,
        *,
        content: bytes | None = None,
        without: str = "",
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """A write with all its ingredients, but for the header `without` and those that are replaced."""
        given = {"origin": ORIGIN, CSRF_HEADER: derived(TOKEN, "csrf"), "content-type": "application/json"}
        given = {name: value for name, value in (given | (headers or {})).items() if name != without}
        content = json.dumps(body or {}).encode() if content is None else content
        return self.request("POST", path, content=content, headers=self._with_cookies(given))

    def decide(self, row: int, grade: str | None, reviewer: str = "Ann") -> httpx.Response:
        return self.post("/api/decide", {"row": row, "grade": grade, "reviewer": reviewer, "key": secrets.token_hex(8)})

    def _with_cookies(self, headers: dict[str, str]) -> dict[str, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return headers | ({"cookie": cookies} if cookies else {})
