"""One request: who we say we are, what is asked again, and what every failure becomes."""

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reparto.kube.client import Client
from reparto.kube.connection import Connection, Server, User
from reparto.kube.errors import ApiError, CredentialError, Expired, Forbidden, KubeError, NotServed, Unauthorized, Unreachable
from reparto.kube.retries import Backoff
from unit.kube_server import Answer, Api, refusal, serving


@pytest.fixture
def api() -> Iterator[Api]:
    with serving(Api()) as running:
        yield running


class Waits(Backoff):
    """Back-off that does not sleep, and remembers for how long it would have."""

    def __init__(self, attempts: int = 3) -> None:
        self.waited: list[float] = []

        async def sleep(seconds: float) -> None:
            self.waited.append(seconds)

        super().__init__(attempts=attempts, sleep=sleep, fraction=lambda: 0.0)


def get(api: Api, path: str = "/version", user: User | None = None, waits: Backoff | None = None, **server: Any) -> dict[str, Any]:
    connection = Connection("test", "default", Server(url=server.pop("url", api.url), **server), user or User(name="jane"))

    async def run() -> dict[str, Any]:
        async with Client(connection, backoff=waits or Waits(), environ={}) as client:
            return await client.get(path, dict[str, Any])

    return asyncio.run(run())


# --- who we are ------------------------------------------------------------------------------------------------------------------


def authorization(api: Api, user: User) -> str | None:
    get(api, user=user)
    return api.requests[-1].headers.get("authorization")


def test_a_token_is_sent_as_bearer(api: Api):
    assert authorization(api, User(token="abc")) == "Bearer abc"


def test_a_token_file_wins_over_a_token_and_is_read_for_each_request(api: Api, tmp_path: Path):
    file = tmp_path / "token"
    user = User(token="old", token_file=str(file))
    file.write_text("first\n")
    assert authorization(api, user) == "Bearer first"
    file.write_text("second")
    assert authorization(api, user) == "Bearer second"
    file.unlink()
    assert authorization(api, user) == "Bearer old"


def test_a_missing_or_empty_token_file_is_said(api: Api, tmp_path: Path):
    user = User(token_file=str(tmp_path / "token"))
    with pytest.raises(CredentialError, match=r"token file .* cannot be read: No such file"):
        get(api, user=user)
    (tmp_path / "token").write_text("\n")
    with pytest.raises(CredentialError, match="is empty"):
        get(api, user=user)


def test_name_and_password_are_sent_as_basic(api: Api):
    assert authorization(api, User(username="jane", password="p:w")) == "Basic " + base64.b64encode(b"jane:p:w").decode()


def test_nothing_is_sent_for_a_user_without_credentials(api: Api):
    assert authorization(api, User()) is None


def test_impersonation_is_passed_on(api: Api):
    get(
        api,
        user=User(
            token="t", impersonate="joe", impersonate_uid="7", impersonate_groups=("a",), impersonate_extra=(("org/x", ("1",)),)
        ),
    )
    headers = api.requests[-1].headers
    assert {name: value for name, value in headers.items() if name.startswith("impersonate")} == {
        "impersonate-user": "joe",
        "impersonate-uid": "7",
        "impersonate-group": "a",
        "impersonate-extra-org%2fx": "1",
    }


def test_answers_are_compressed_unless_the_kubeconfig_says_no(api: Api):
    api.compressed = True
    assert get(api)["major"] == "1"
    assert api.requests[-1].headers["accept-encoding"] == "gzip"
    assert get(api, compression=False)["major"] == "1"
    assert api.requests[-1].headers["accept-encoding"] == "identity"


def test_we_say_who_asks(api: Api):
    get(api)
    assert api.requests[-1].headers["user-agent"].startswith("reparto/")


# --- asked again -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_that_is_busy_or_broken_is_asked_again_later(api: Api, status: int):
    api.scripted["/version"] = [Answer(status), Answer(status)]
    waits = Waits()
    assert get(api, waits=waits)["major"] == "1"
    assert waits.waited == [0.5, 1.0]


def test_retry_after_of_header_or_status_is_respected(api: Api):
    api.scripted["/version"] = [
        Answer(429, headers={"Retry-After": "3"}),
        refusal(503, "ServiceUnavailable", "starting", details={"retryAfterSeconds": 5}),
    ]
    waits = Waits()
    get(api, waits=waits)
    assert waits.waited == [3.25, 5.5]


def test_after_the_last_attempt_the_servers_words_are_the_error(api: Api):
    api.scripted["/version"] = [refusal(503, "ServiceUnavailable", "etcd is down") for _ in range(3)]
    with pytest.raises(ApiError, match=r"answered /version with 503 etcd is down"):
        get(api)
    assert len(api.requests) == 3


def test_a_connection_that_breaks_is_tried_again(api: Api):
    api.scripted["/version"] = [Answer(200, None)]
    waits = Waits()
    assert get(api, waits=waits)["major"] == "1"
    assert waits.waited == [0.5]


def test_a_connection_that_keeps_breaking_is_said(api: Api):
    api.scripted["/version"] = [Answer(200, None) for _ in range(3)]
    with pytest.raises(Unreachable, match="broke the connection"):
        get(api)


# --- refused ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (refusal(401, "Unauthorized", "Unauthorized"), Unauthorized, "does not accept the credentials of user 'jane'"),
        (
            refusal(403, "Forbidden", "pods is forbidden: User jane cannot list"),
            Forbidden,
            "^pods is forbidden: User jane cannot list",
        ),
        (refusal(404, "NotFound", "gone"), NotServed, "has no /version"),
        (refusal(410, "Expired", "continue token expired"), Expired, "continue token expired"),
        (refusal(400, "BadRequest", "no"), ApiError, "with 400 no"),
        (Answer(302, headers={"Location": "https://login.example"}), ApiError, "sends elsewhere: https://login.example"),
        (Answer(404, b"404 page not found"), NotServed, "has no /version"),
    ],
)
def test_what_the_server_refuses_is_not_asked_again(api: Api, answer: Answer, error: type[KubeError], words: str):
    api.scripted["/version"] = [answer]
    with pytest.raises(error, match=words):
        get(api)
    assert len(api.requests) == 1


def test_an_answer_that_is_no_json_is_said(api: Api):
    api.scripted["/version"] = [Answer(200, b"<html>welcome</html>")]
    with pytest.raises(KubeError, match="something else than JSON"):
        get(api)


def test_a_damaged_compressed_answer_is_asked_again(api: Api):
    api.scripted["/version"] = [Answer(200, b"not gzip", {"Content-Encoding": "gzip"})]
    assert get(api)["major"] == "1"


def test_a_refused_connection_is_one_sentence(api: Api):
    with pytest.raises(Unreachable, match=r"cannot reach the server of context 'test' \(http://127.0.0.1:1\): .*refused"):
        get(api, url="http://127.0.0.1:1")


def test_an_unknown_host_is_one_sentence(api: Api):
    with pytest.raises(Unreachable, match="cannot reach"):
        get(api, url="http://no-such-host.invalid")


def test_a_proxy_that_does_not_tunnel_is_said(api: Api):
    with pytest.raises(Unreachable, match="the proxy on the way"):
        get(api, url="https://k8s.example", proxy_url=api.url)


def test_requests_go_through_the_proxy(api: Api):
    assert get(api, url="http://k8s.example", proxy_url=api.url)["major"] == "1"
    assert api.requests[-1].headers["host"] == "k8s.example"


def test_errors_do_not_carry_credentials(api: Api):
    api.scripted["/version"] = [refusal(401, "Unauthorized", "Unauthorized")]
    with pytest.raises(Unauthorized) as raised:
        get(api, user=User(name="jane", token="s3cret"))
    assert "s3cret" not in json.dumps([str(raised.value), repr(raised.value)])
