"""Which cluster kubectl would mean: files found, merged and read as client-go does."""

import json
from pathlib import Path
from typing import Any

import pytest

from reparto.kube.errors import ConfigError, NoCluster
from reparto.kube.kubeconfig import connection


def config(path: Path, *contexts: str, current: str = "", server: str = "", user: dict[str, Any] | None = None) -> Path:
    """Contexts named like their cluster and user."""
    path.parent.mkdir(parents=True, exist_ok=True)
    clusters = [{"name": name, "cluster": {"server": server or f"https://{name}.example"}} for name in contexts]
    users = [{"name": name, "user": user or {"token": f"token-of-{name}"}} for name in contexts]
    listed = [{"name": name, "context": {"cluster": name, "user": name}} for name in contexts]
    content: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "clusters": clusters, "users": users, "contexts": listed}
    path.write_text(json.dumps(content | ({"current-context": current} if current else {})))
    return path


def nowhere(tmp_path: Path) -> Path:
    return tmp_path / "no-service-account"


def test_without_options_the_file_in_the_home_folder_is_read(tmp_path: Path):
    config(tmp_path / ".kube" / "config", "prod", current="prod")
    found = connection(environ={"HOME": str(tmp_path)})
    assert (found.context, found.server.url, found.user.token) == ("prod", "https://prod.example", "token-of-prod")


def test_kubeconfig_variable_replaces_the_file_in_the_home_folder(tmp_path: Path):
    config(tmp_path / ".kube" / "config", "prod", current="prod")
    other = config(tmp_path / "other", "lab", current="lab")
    assert connection(environ={"HOME": str(tmp_path), "KUBECONFIG": str(other)}).context == "lab"


def test_of_several_files_the_first_wins_and_missing_ones_are_empty(tmp_path: Path):
    first = config(tmp_path / "a", "lab", current="lab", server="https://first.example")
    second = config(tmp_path / "b", "lab", "prod", current="prod")
    environ = {"KUBECONFIG": f"{tmp_path / 'missing'}:{first}::{second}"}
    assert connection(environ=environ).server.url == "https://first.example"
    assert connection(context="prod", environ=environ).server.url == "https://prod.example"


def test_an_explicit_file_is_read_alone(tmp_path: Path):
    first, second = config(tmp_path / "a", "lab", current="lab"), config(tmp_path / "b", "prod", current="prod")
    assert connection(str(second), environ={"KUBECONFIG": str(first)}).context == "prod"
    with pytest.raises(ConfigError, match="no context 'lab'"):
        connection(str(second), "lab", environ={"KUBECONFIG": str(first)})


def test_relative_paths_start_from_the_file_that_holds_them(tmp_path: Path):
    user = {"client-certificate": "pki/jane.crt", "client-key": "/etc/jane.key", "tokenFile": "token"}
    file = config(tmp_path / "deep" / "config", "prod", current="prod", user=user)
    found = connection(str(file), environ={}).user
    assert found.certificate_file == str(tmp_path / "deep" / "pki" / "jane.crt")
    assert found.key_file == "/etc/jane.key"
    assert found.token_file == str(tmp_path / "deep" / "token")


def test_data_in_the_file_wins_over_paths(tmp_path: Path):
    user = {"client-certificate": "jane.crt", "client-certificate-data": "QUJD"}
    found = connection(str(config(tmp_path / "c", "prod", current="prod", user=user)), environ={}).user
    assert (found.certificate_file, found.certificate_data) == ("", "QUJD")


def test_a_plugin_named_by_a_path_is_looked_for_beside_the_file_and_a_bare_name_on_the_search_path(tmp_path: Path):
    for command, expected in (("./bin/login", str(tmp_path / "bin" / "login")), ("aws", "aws")):
        user = {"exec": {"command": command, "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}}
        plugin = connection(str(config(tmp_path / "c", "prod", current="prod", user=user)), environ={}).user.plugin
        assert plugin is not None
        assert plugin.command == expected


def test_the_namespace_is_the_contexts_or_default(tmp_path: Path):
    file = config(tmp_path / "c", "prod", current="prod")
    assert connection(str(file), environ={}).namespace == "default"
    content = json.loads(file.read_text())
    content["contexts"][0]["context"]["namespace"] = "ml"
    file.write_text(json.dumps(content))
    assert connection(str(file), environ={}).namespace == "ml"


def test_scalars_are_read_by_the_type_of_their_field(tmp_path: Path):
    """Go decodes a number into a text field; YAML's own types would make 007 an integer."""
    (tmp_path / "c").write_text(
        "apiVersion: v1\nkind: Config\npreferences: {}\ncurrent-context: 007\nclusters:\n"
        "- {name: 1, cluster: {server: https://x.example, insecure-skip-tls-verify: true, certificate-authority: null}}\n"
        "users:\n- {name: 2, user: {token: 12345, exec: null}}\n"
        "contexts:\n- {name: 007, context: {cluster: 1, user: 2, namespace: ~}}\n"
    )
    found = connection(str(tmp_path / "c"), environ={})
    assert (found.context, found.user.token, found.server.insecure, found.namespace) == ("007", "12345", True, "default")


def test_in_a_pod_without_kubeconfig_the_service_account_is_used(tmp_path: Path):
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("t")
    (account / "ca.crt").write_text("pem")
    (account / "namespace").write_text("ml\n")
    environ = {"HOME": str(tmp_path), "KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    found = connection(environ=environ, service_account=account)
    assert (found.context, found.server.url, found.namespace) == ("in-cluster", "https://[fd00::1]:443", "ml")
    assert (found.server.ca_file, found.user.token_file) == (str(account / "ca.crt"), str(account / "token"))


def test_a_kubeconfig_wins_over_the_service_account(tmp_path: Path):
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("t")
    config(tmp_path / ".kube" / "config", "prod", current="prod")
    environ = {"HOME": str(tmp_path), "KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    assert connection(environ=environ, service_account=account).context == "prod"


def test_where_nothing_names_a_cluster_the_error_says_what_to_give(tmp_path: Path):
    with pytest.raises(NoCluster, match="no cluster to read") as raised:
        connection(environ={"HOME": str(tmp_path)}, service_account=nowhere(tmp_path))
    assert "--kubeconfig" in raised.value.hint


def test_a_missing_context_names_those_that_exist(tmp_path: Path):
    file = config(tmp_path / "c", "lab", "prod", current="lab")
    with pytest.raises(ConfigError, match="no context 'prd'") as raised:
        connection(str(file), "prd", environ={})
    assert raised.value.hint == "contexts: lab, prod"


def test_a_file_without_current_context_asks_for_one(tmp_path: Path):
    with pytest.raises(NoCluster, match="sets no current context") as raised:
        connection(str(config(tmp_path / "c", "lab")), environ={})
    assert "--context: lab" in raised.value.hint


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a: [", "is no YAML"),
        ("clusters: 7", "is no kubeconfig"),
        ("clusters: [{cluster: {}}]", "is no kubeconfig"),
        ("current-context: a\ncontexts: [{name: a, context: {cluster: b}}]", "names cluster 'b', which is not in"),
        (
            "current-context: a\nclusters: [{name: b}]\ncontexts: [{name: a, context: {cluster: b}}]",
            "'b' of the kubeconfig has no server",
        ),
        (
            "current-context: a\nclusters: [{name: b, cluster: {server: 'ftp://x'}}]\ncontexts: [{name: a, context: {cluster: b}}]",
            "no http address",
        ),
        (
            "current-context: a\nclusters: [{name: b, cluster: {server: x, "
            "insecure-skip-tls-verify: true, certificate-authority: y}}]\n"
            "contexts: [{name: a, context: {cluster: b}}]",
            "both insecure-skip-tls-verify and a certificate authority",
        ),
        (
            "current-context: a\nclusters: [{name: b, cluster: {server: x}}]\n"
            "contexts: [{name: a, context: {cluster: b, user: u}}]\n"
            "users: [{name: u, user: {auth-provider: {name: gcp}}}]",
            "auth-provider 'gcp', which is not supported",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path: Path, content: str, expected: str):
    (tmp_path / "c").write_text(content)
    with pytest.raises(ConfigError, match=expected):
        connection(str(tmp_path / "c"), environ={})


def test_a_file_that_does_not_exist_or_is_no_text_is_said(tmp_path: Path):
    with pytest.raises(ConfigError, match="does not exist"):
        connection(str(tmp_path / "missing"), environ={})
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read: not UTF-8"):
        connection(str(tmp_path / "binary"), environ={})
    with pytest.raises(ConfigError, match="cannot be read"):
        connection(str(tmp_path), environ={})


def test_secrets_do_not_show_in_a_representation(tmp_path: Path):
    found = connection(str(config(tmp_path / "c", "prod", current="prod")), environ={})
    assert "token-of-prod" not in repr(found)
