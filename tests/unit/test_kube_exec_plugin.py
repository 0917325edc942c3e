"""Exec plugins: the ExecCredential contract, when they run again, and what their failures become."""

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reparto.kube.client import Client
from reparto.kube.connection import Connection, ExecPlugin, Server, User
from reparto.kube.errors import CredentialError, Unauthorized
from reparto.kube.exec_plugin import Credential, Plugin
from unit.kube_server import Api, serving

V1 = "client.authentication.k8s.io/v1"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A folder to write plugins into."""
    return tmp_path


def plugin(folder: Path, body: str, **settings: Any) -> ExecPlugin:
    """A plugin in Python; `give(status)` prints an ExecCredential."""
    file = folder / "plugin.py"
    file.write_text(
        "import json, os, sys\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "def give(status, version=info['apiVersion'], kind='ExecCredential'):\n"
        "    print(json.dumps({'apiVersion': version, 'kind': kind, 'status': status}))\n" + body
    )
    return ExecPlugin(sys.executable, (str(file),), **({"api_version": V1, "interactive_mode": "Never"} | settings))


def connection(each: ExecPlugin, **server: Any) -> Connection:
    return Connection("test", "default", Server(**({"url": "https://k8s.example"} | server)), User(name="jane", plugin=each))


def credential(each: ExecPlugin, stdin_free: bool = True, **server: Any) -> Credential:
    return asyncio.run(Plugin(connection(each, **server), each, stdin_free=stdin_free).credential())


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_token_is_taken_in_both_versions_of_the_contract(script: Path, version: str):
    each = plugin(script, "give({'token': 'abc'})", api_version=f"client.authentication.k8s.io/{version}")
    assert credential(each).token == "abc"


def test_a_certificate_with_its_key_is_taken(script: Path):
    found = credential(plugin(script, "give({'clientCertificateData': 'C', 'clientKeyData': 'K'})"))
    assert (found.certificate, found.key, found.token) == ("C", "K", "")


def test_the_plugin_learns_what_the_kubeconfig_allows_it_to_know(script: Path):
    each = plugin(script, "give({'token': json.dumps(info)})", provide_cluster_info=True)
    told = json.loads(credential(each, ca_data="QUJD", tls_server_name="n", proxy_url="http://p:1").token)
    assert told["spec"] == {
        "interactive": False,
        "cluster": {
            "server": "https://k8s.example",
            "tls-server-name": "n",
            "certificate-authority-data": "QUJD",
            "proxy-url": "http://p:1",
        },
    }
    told = json.loads(credential(plugin(script, "give({'token': json.dumps(info)})")).token)
    assert told == {"apiVersion": V1, "kind": "ExecCredential", "spec": {"interactive": False}}


def test_a_file_with_the_authority_is_passed_on_as_data(script: Path):
    (script / "ca").write_bytes(b"ABC")
    each = plugin(script, "give({'token': info['spec']['cluster']['certificate-authority-data']})", provide_cluster_info=True)
    assert credential(each, ca_file=str(script / "ca")).token == "QUJD"


def test_arguments_and_environment_reach_the_plugin(script: Path):
    each = plugin(script, "give({'token': os.environ['REGION'] + sys.argv[1]})", environment=(("REGION", "eu-1"),))
    assert (
        credential(ExecPlugin(each.command, (*each.arguments, "x"), each.environment, V1, interactive_mode="Never")).token
        == "eu-1x"
    )


def test_credentials_are_kept_until_they_expire(script: Path):
    now = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
    count = script / "count"
    body = (
        f"n = int(open({str(count)!r}).read() or 0) + 1; open({str(count)!r}, 'w').write(str(n))\n"
        "give({'token': str(n), 'expirationTimestamp': '2026-11-30T21:00:00Z'})"
    )
    count.write_text("")
    each = plugin(script, body)

    async def tokens() -> list[str]:
        clock = [now]
        held = Plugin(connection(each), each, now=lambda: clock[0])
        first, second = await asyncio.gather(held.credential(), held.credential())
        clock[0] = now + timedelta(minutes=59)
        third = await held.credential()
        clock[0] = now + timedelta(minutes=60)
        return [first.token, second.token, third.token, (await held.credential()).token]

    assert asyncio.run(tokens()) == ["1", "1", "1", "2"]


def run(api: Api, each: ExecPlugin) -> str:
    async def ask() -> str:
        async with Client(connection(each, url=api.url)) as client:
            return (await client.get("/version", dict[str, str]))["major"]

    return asyncio.run(ask())


def test_when_the_server_refuses_the_credentials_the_plugin_is_asked_once_more(script: Path):
    state = script / "state"
    body = f"import pathlib; p = pathlib.Path({str(state)!r}); give({{'token': 'new' if p.exists() else 'old'}}); p.touch()"
    with serving(Api(token="new")) as api:
        assert run(api, plugin(script, body)) == "1"
        assert [request.headers["authorization"] for request in api.requests] == ["Bearer old", "Bearer new"]
    with serving(Api(token="other")) as api, pytest.raises(Unauthorized, match="log in again"):
        run(api, plugin(script, body))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "sys.stderr.write('warning\\nsession expired, run aws sso login\\n'); sys.exit(3)",
            "exit code 3: session expired, run aws sso login",
        ),
        ("print('hello')", "did not print an ExecCredential"),
        ("", "did not print an ExecCredential"),
        ("give({})", "neither a token nor a certificate"),
        ("give(None)", "neither a token nor a certificate"),
        ("give({'clientCertificateData': 'C'})", "neither|without its key"),
        ("give({'token': 't', 'clientKeyData': 'K'})", "without its certificate"),
        ("give({'token': 't'}, version='client.authentication.k8s.io/v1beta1')", "but the kubeconfig asks for"),
        ("give({'token': 't'}, kind='Status')", "but the kubeconfig asks for"),
    ],
)
def test_a_plugin_that_fails_is_one_sentence(script: Path, body: str, words: str):
    with pytest.raises(CredentialError, match=f"^exec plugin '.*' of user 'jane' .*({words})"):
        credential(plugin(script, body))


def test_a_plugin_that_is_not_installed_says_how_to_get_it():
    each = ExecPlugin(
        "no-such-plugin-anywhere", api_version=V1, interactive_mode="Never", install_hint="Install it\n  from our wiki"
    )
    with pytest.raises(CredentialError, match="'no-such-plugin-anywhere' of user 'jane' is not installed") as raised:
        credential(each)
    assert raised.value.hint == "Install it from our wiki"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"api_version": "client.authentication.k8s.io/v1alpha1"}, "v1alpha1, which is not supported"),
        ({"api_version": ""}, "no apiVersion, which is not supported"),
        ({"interactive_mode": ""}, "has no interactiveMode"),
        ({"interactive_mode": "Sometimes"}, "is none of Never, IfAvailable, Always"),
        ({"interactive_mode": "Always"}, "needs to ask you, but standard input is no terminal"),
        ({"command": ""}, "an exec plugin without a command"),
        ({"command": "/"}, "cannot be run"),
    ],
)
def test_an_entry_that_cannot_be_run_is_one_sentence(settings: dict[str, str], words: str):
    with pytest.raises(CredentialError, match=words):
        credential(ExecPlugin(**({"command": "x", "api_version": V1, "interactive_mode": "Never"} | settings)))


def test_a_plugin_cannot_ask_where_manifests_come_on_standard_input():
    each = ExecPlugin("x", api_version=V1, interactive_mode="Always")
    with pytest.raises(CredentialError, match="standard input is read with -f -"):
        credential(each, stdin_free=False)
