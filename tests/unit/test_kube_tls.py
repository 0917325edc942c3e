"""Whom we trust and who we are over TLS, with certificates made for the test."""

import asyncio
import base64
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from reparto.kube.client import Client
from reparto.kube.connection import Connection, Server, User
from reparto.kube.errors import ConfigError, CredentialError, KubeError, Untrusted
from unit.kube_server import Api, serving


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def api(authority: trustme.CA) -> Iterator[Api]:
    """Speaks TLS as k8s.internal and 127.0.0.1, and looks at client certificates where it gets one."""
    settings = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1", "k8s.internal").configure_cert(settings)
    authority.configure_trust(settings)
    settings.verify_mode = ssl.CERT_OPTIONAL
    with serving(Api(), settings) as running:
        yield running


def encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


def get(api: Api, user: User | None = None, **server: Any) -> str:
    connection = Connection("test", "default", Server(url=server.pop("url", api.url), **server), user or User(name="jane"))

    async def run() -> str:
        async with Client(connection, environ={}) as client:
            return (await client.get("/version", dict[str, str]))["major"]

    return asyncio.run(run())


def test_the_kubeconfigs_authority_is_trusted_from_data_or_file(api: Api, authority: trustme.CA, tmp_path: Path):
    pem = authority.cert_pem.bytes()
    (tmp_path / "ca.crt").write_bytes(pem)
    assert get(api, ca_data=encoded(pem)) == "1"
    assert get(api, ca_file=str(tmp_path / "ca.crt")) == "1"


def test_an_unknown_authority_is_refused_in_one_sentence(api: Api):
    with pytest.raises(Untrusted, match=r"the certificate of the server of context 'test' .* is not trusted: ") as raised:
        get(api)
    assert "certificate-authority" in raised.value.hint
    with pytest.raises(Untrusted, match="is not trusted"):
        get(api, ca_data=encoded(trustme.CA().cert_pem.bytes()))


def test_a_certificate_of_another_host_is_refused(api: Api, authority: trustme.CA):
    url = api.url.replace("127.0.0.1", "localhost")
    with pytest.raises(Untrusted, match="not trusted: Hostname mismatch"):
        get(api, url=url, ca_data=encoded(authority.cert_pem.bytes()))


def test_tls_server_name_is_the_name_that_the_certificate_must_have(api: Api, authority: trustme.CA):
    url = api.url.replace("127.0.0.1", "localhost")
    assert get(api, url=url, ca_data=encoded(authority.cert_pem.bytes()), tls_server_name="k8s.internal") == "1"


def test_insecure_skip_tls_verify_trusts_anybody(api: Api):
    assert get(api, insecure=True) == "1"


def test_a_server_whose_own_certificate_is_the_authority_is_trusted():
    """kube-apiserver signs its own certificate; Go trusts what is in the pool, whoever signed it."""
    authority = trustme.CA()
    leaf = authority.issue_cert("127.0.0.1")
    settings = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    leaf.configure_cert(settings)
    with serving(Api(), settings) as api:
        assert get(api, ca_data=encoded(leaf.cert_chain_pems[0].bytes())) == "1"


def test_a_client_certificate_says_who_we_are(api: Api, authority: trustme.CA, tmp_path: Path):
    pair = authority.issue_cert("jane@example")
    certificate, key = pair.cert_chain_pems[0].bytes(), pair.private_key_pem.bytes()
    (tmp_path / "jane.crt").write_bytes(certificate)
    (tmp_path / "jane.key").write_bytes(key)
    strict = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(strict)
    authority.configure_trust(strict)
    strict.verify_mode = ssl.CERT_REQUIRED
    trusted = {"ca_data": encoded(authority.cert_pem.bytes())}
    with serving(Api(), strict) as demanding:
        assert get(demanding, User(certificate_data=encoded(certificate), key_data=encoded(key)), **trusted) == "1"
        files = User(certificate_file=str(tmp_path / "jane.crt"), key_file=str(tmp_path / "jane.key"))
        assert get(demanding, files, **trusted) == "1"
        with pytest.raises(Untrusted, match="does not accept our client certificate"):
            get(demanding, **trusted)


@pytest.mark.parametrize(
    ("user", "server", "error", "words"),
    [
        (User(), {"ca_data": "?"}, ConfigError, "certificate-authority-data is not base64"),
        (User(), {"ca_data": encoded(b"no pem")}, ConfigError, "holds no certificate"),
        (User(), {"ca_file": "/no/such/ca"}, ConfigError, "certificate authority /no/such/ca cannot be read: No such file"),
        (User(name="jane", certificate_data=encoded(b"x")), {}, CredentialError, "has a client certificate but no client key"),
        (User(name="jane", key_data=encoded(b"x")), {}, CredentialError, "has a client key but no client certificate"),
        (User(name="jane", certificate_data=encoded(b"x"), key_data=encoded(b"y")), {}, CredentialError, "cannot be used together"),
        (User(name="jane", certificate_file="/no/such"), {}, ConfigError, "client certificate /no/such cannot be read"),
    ],
)
def test_material_that_cannot_be_used_is_one_sentence(api: Api, user: User, server: Any, error: type[KubeError], words: str):
    with pytest.raises(error, match=words):
        get(api, user, **server)


def test_a_server_that_does_not_speak_tls_is_said():
    with serving(Api()) as plain, pytest.raises(KubeError, match="does not speak TLS as we do"):
        get(plain, url=plain.url.replace("http:", "https:"))
