"""Every rule of the guard, and that each is needed: with one ingredient wrong or missing, the answer is no."""

import copy
import re
from collections.abc import Iterator

import httpx
import pytest

from app.review.client import ORIGIN, PORT, TOKEN, Client
from app.review.sample import sample_audit
from ordinoise.app.review.guard import CSRF_HEADER, HEADERS, LARGEST_BODY, derived

READS = (
    "/",
    "/static/main.js",
    "/static/review.css",
    "/api/audit",
    "/api/changes/0",
    "/api/history/0",
    "/api/refit",
    "/picture/0/6",
)
WRITES = ("decide", "undo", "note", "export", "refit")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("wine")
    sample_audit(folder)
    client = Client(folder / "audit")
    yield client
    client.close()


@pytest.fixture
def client(shared: Client) -> Client:
    """A client whose cookies may be taken away."""
    client = copy.copy(shared)
    client.cookies = dict(shared.cookies)
    return client


def test_the_printed_address_gives_a_strict_cookie_and_leads_to_a_clean_one(client: Client) -> None:
    client.cookies.clear()
    answer = client.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert TOKEN not in cookie
    name, value = cookie.split(";")[0].split("=")
    client.cookies[name] = value
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "%F0%9F%90%88", derived(TOKEN, "session")])
def test_a_wrong_token_opens_nothing(client: Client, token: str) -> None:
    client.cookies.clear()
    answer = client.get(f"/?token={token}")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_wrong_token_is_refused_even_with_the_cookie(client: Client) -> None:
    assert client.get("/?token=wrong").status_code == 403


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize(
    "cookie",
    [{}, {f"ordinoise-review-{PORT}": TOKEN}, {"ordinoise-review-1": derived(TOKEN, "session")}],
    ids=["none", "token", "port"],
)
def test_nothing_is_read_without_the_cookie(client: Client, path: str, cookie: dict[str, str]) -> None:
    client.cookies = cookie
    assert client.get(path).status_code == 403


def test_the_token_opens_the_front_door_only(client: Client) -> None:
    client.cookies.clear()
    assert client.get(f"/api/audit?token={TOKEN}").status_code == 403


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        f"127.0.0.1:{PORT + 1}",
        f"127.0.0.1:{PORT}.evil.example",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", f"/?token={TOKEN}", "/api/audit", "/static/main.js"])
def test_another_host_is_refused(client: Client, host: str, path: str) -> None:
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


def test_localhost_is_this_computer_too(client: Client) -> None:
    assert client.get("/", headers={"host": f"localhost:{PORT}"}).status_code == 200


@pytest.mark.parametrize("action", WRITES)
@pytest.mark.parametrize("without", ["origin", CSRF_HEADER])
def test_a_write_needs_origin_and_key(client: Client, action: str, without: str) -> None:
    assert client.post(f"/api/{action}", without=without).status_code == 403


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("origin", "http://evil.example"), ("origin", "null"), ("origin", f"https://127.0.0.1:{PORT}"),
        ("origin", f"http://localhost:{PORT}"), (CSRF_HEADER, "wrong"), (CSRF_HEADER, TOKEN), (CSRF_HEADER, derived(TOKEN, "session")),
    ],
)  # fmt: skip
def test_a_write_needs_the_right_origin_and_key(client: Client, header: str, value: str) -> None:
    row = client.get("/api/audit").json()["items"][0]["row"]
    body = {"row": row, "grade": "5", "reviewer": "Ann", "key": "12345678"}
    assert client.post("/api/decide", body, headers={header: value}).status_code == 403
    assert client.post("/api/decide", body).status_code == 200


def test_a_write_needs_the_cookie(client: Client) -> None:
    client.cookies.clear()
    assert client.post("/api/export").status_code == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_form_cannot_write(client: Client, kind: str) -> None:
    assert client.post("/api/export", headers={"content-type": kind}).status_code == 415


@pytest.mark.parametrize("action", WRITES)
def test_nothing_is_written_by_a_get(client: Client, action: str) -> None:
    assert client.get(f"/api/{action}").status_code == (200 if action == "refit" else 405)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    headers = {"cookie": f"ordinoise-review-{PORT}={derived(TOKEN, 'session')}"}
    assert client.request(method, "/api/decide", headers=headers).status_code == 403
    headers |= {"origin": ORIGIN, CSRF_HEADER: derived(TOKEN, "csrf"), "content-type": "application/json"}
    assert client.request(method, "/api/decide", headers=headers).status_code == 405


def test_a_body_beyond_the_limit_is_refused_whatever_length_it_claims(client: Client) -> None:
    assert client.post("/api/note", {"note": "x" * LARGEST_BODY}).status_code == 413
    assert client.post("/api/note", {"note": "x" * LARGEST_BODY}, headers={"content-length": "10"}).status_code == 413
    assert client.post("/api/note", {"note": "x" * (LARGEST_BODY - 100)}).status_code == 422


@pytest.mark.parametrize("path", [*READS, "/nowhere"])
def test_every_answer_carries_the_headers(client: Client, path: str) -> None:
    answers = [client.get(path), client.get(path, headers={"host": "evil.example"})]
    client.cookies.clear()
    for answer in [*answers, client.get(path)]:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "base-uri 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("name", ["../app.py", "..%2Fapp.py", "%2e%2e/guard.py", "index.html", "", ".", "nothing.js"])
def test_only_the_files_of_the_page_are_served(client: Client, name: str) -> None:
    assert client.get(f"/static/{name}").status_code in (403, 404)


def test_the_page_holds_no_script_or_style_of_its_own(client: Client) -> None:
    page = client.get("/").text
    assert "<script type=" in page
    assert page.count("<script") == page.count('<script type="module" src="/static/')
    assert "<style" not in page
    assert " style=" not in page
    assert not re.search(r"<[^>]*\son[a-z]+=", page)
    assert "http://" not in page
    assert "https://" not in page


@pytest.mark.parametrize("number", [str(2**63), "9" * 5000, "-1", "x", "%D9%A3", "1e3", "999"])
@pytest.mark.parametrize("path", ["/api/history/{}", "/picture/{}/6", "/picture/0/{}"])
def test_an_unknown_row_is_not_found_in_one_sentence(client: Client, path: str, number: str) -> None:
    answer = client.get(path.format(number))
    assert answer.status_code == 404
    _is_one_sentence(answer)


@pytest.mark.parametrize("number", ["9" * 5000, "-1", "x"])
def test_changes_after_no_event_are_not_found_in_one_sentence(client: Client, number: str) -> None:
    answer = client.get(f"/api/changes/{number}")
    assert answer.status_code == 404
    _is_one_sentence(answer)


def test_an_unknown_path_or_method_is_one_sentence(client: Client) -> None:
    for answer, status in ((client.get("/nowhere"), 404), (client.post("/nowhere"), 404), (client.post("/"), 405)):
        assert answer.status_code == status
        _is_one_sentence(answer)


@pytest.mark.parametrize("write", [False, True])
def test_an_unexpected_error_is_one_sentence_with_the_headers(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, write: bool
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr(client.app.state.desk.store, "history", fail)
    monkeypatch.setattr(client.app.state.desk.store, "states", fail)
    answer = client.post("/api/export") if write else client.get("/api/audit")
    assert answer.status_code == 500
    _is_one_sentence(answer)
    assert "secret detail" not in answer.text
    assert [record.exc_info for record in caplog.records if record.exc_info] == []
    assert "failed with KeyError" in caplog.text


def _is_one_sentence(answer: httpx.Response) -> None:
    sentence = answer.json()["error"]
    assert 10 < len(sentence) < 250
    assert "Traceback" not in sentence
    assert "\n" not in sentence
    for name in HEADERS:
        assert answer.headers[name] == HEADERS[name]
