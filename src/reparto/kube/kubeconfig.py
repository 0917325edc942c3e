"""Kubeconfig files as kubectl finds, merges and understands them; one context of them as a `Connection`.

Found: `--kubeconfig`, else the files of KUBECONFIG, else `~/.kube/config`, else the service account of the pod that we run in.
Merged: of two files the first to name a cluster, user, context or current context wins; missing files of KUBECONFIG count as empty.
Paths in a file are relative to that file. Source: client-go `tools/clientcmd` (loader.go, client_config.go).
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from reparto.kube import in_cluster
from reparto.kube.connection import Connection, ExecPlugin, Server, User
from reparto.kube.errors import ConfigError, NoCluster

DEFAULT_NAMESPACE = "default"

_T = TypeVar("_T")


class _Struct(msgspec.Struct, rename="kebab"):
    """Fields are spelt with hyphens; unknown ones are ignored, as kubectl does."""


class _Cluster(_Struct):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False


class _EnvironmentVariable(msgspec.Struct):
    name: str
    value: str = ""


class _Exec(msgspec.Struct, rename="camel"):
    command: str = ""
    args: list[str] = []
    env: list[_EnvironmentVariable] = []
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class _AuthProvider(msgspec.Struct):
    name: str = ""


class _User(_Struct):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: list[str] = msgspec.field(default_factory=list[str], name="as-groups")
    impersonate_extra: dict[str, list[str]] = msgspec.field(default_factory=dict[str, list[str]], name="as-user-extra")
    auth_provider: _AuthProvider | None = None
    exec: _Exec | None = None


class _Context(_Struct):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(msgspec.Struct):
    name: str
    cluster: _Cluster = msgspec.field(default_factory=_Cluster)


class _NamedUser(msgspec.Struct):
    name: str
    user: _User = msgspec.field(default_factory=_User)


class _NamedContext(msgspec.Struct):
    name: str
    context: _Context = msgspec.field(default_factory=_Context)


class _File(_Struct):
    current_context: str = ""
    clusters: list[_NamedCluster] = []
    users: list[_NamedUser] = []
    contexts: list[_NamedContext] = []


class Kubeconfig(msgspec.Struct):
    """Several files as one. Each entry goes with the folder that its relative paths start from."""

    files: list[str] = []
    current_context: str = ""
    clusters: dict[str, tuple[_Cluster, Path]] = {}
    users: dict[str, tuple[_User, Path]] = {}
    contexts: dict[str, _Context] = {}

    def named(self) -> str:
        """The files, for an error message."""
        return ", ".join(self.files) or "the kubeconfig"


def connection(
    kubeconfig: str | None = None,
    context: str | None = None,
    environ: Mapping[str, str] | None = None,
    service_account: Path = in_cluster.SERVICE_ACCOUNT,
) -> Connection:
    """How to reach the cluster that kubectl with `--kubeconfig` and `--context` would reach.

    Raises ConfigError (NoCluster where nothing names a cluster).
    """
    environ = os.environ if environ is None else environ
    config = load(kubeconfig, environ)
    if not config.contexts and not config.clusters and kubeconfig is None and context is None:
        inside = in_cluster.connection(environ, service_account)
        if inside is not None:
            return inside
        looked = config.named() if config.files else " or ".join(map(str, _files(environ)))
        raise NoCluster(
            f"no cluster to read: there is no usable kubeconfig ({looked}), and this is not a pod",
            "name one with --kubeconfig FILE or KUBECONFIG, or give files with -f",
        )
    return chosen(config, context)


def load(kubeconfig: str | None, environ: Mapping[str, str]) -> Kubeconfig:
    """The merged kubeconfig. Raises ConfigError where a file cannot be read; only an explicit one must exist."""
    if kubeconfig is not None:
        path = Path(kubeconfig).expanduser()
        if not path.exists():
            raise ConfigError(f"kubeconfig {kubeconfig} does not exist", "check --kubeconfig")
        paths = [path]
    else:
        paths = [path for path in _files(environ) if path.exists()]
    merged = Kubeconfig()
    for path in paths:
        _merge(merged, path)
    return merged


def _files(environ: Mapping[str, str]) -> list[Path]:
    named = [part for part in environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    if named:
        return [Path(part) for part in dict.fromkeys(named)]
    home = environ.get("HOME") or environ.get("USERPROFILE")
    return [Path(home or "~").expanduser() / ".kube" / "config"]


def _merge(merged: Kubeconfig, path: Path) -> None:
    file = _read(path)
    folder = path.absolute().parent
    merged.files.append(str(path))
    merged.current_context = merged.current_context or file.current_context
    for cluster in file.clusters:
        merged.clusters.setdefault(cluster.name, (cluster.cluster, folder))
    for user in file.users:
        merged.users.setdefault(user.name, (user.user, folder))
    for context in file.contexts:
        merged.contexts.setdefault(context.name, context.context)


def _read(path: Path) -> _File:
    import yaml

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(f"kubeconfig {path} cannot be read: {reason}") from None
    # All scalars as text: a numeric token or context name is a name. kubectl decodes by the type of the field, too.
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        content: Any = yaml.load(text, Loader=loader)
        return msgspec.convert(_without_nulls(content or {}), _File, strict=False)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"kubeconfig {path}{line} is no YAML: {getattr(error, 'problem', None) or 'malformed'}") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"kubeconfig {path} is no kubeconfig: {_shortened(str(error))}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"kubeconfig {path} is no YAML") from None


def _without_nulls(content: Any) -> Any:
    if isinstance(content, dict):
        pairs = cast("dict[str, Any]", content).items()
        return {key: _without_nulls(value) for key, value in pairs if value not in ("", "~", "null")}
    if isinstance(content, list):
        return [_without_nulls(value) for value in cast("list[Any]", content)]
    return content


def _shortened(message: str) -> str:
    return message if len(message) < 200 else message[:200] + "…"


def chosen(config: Kubeconfig, name: str | None) -> Connection:
    """One context of `config` (None: its current one) as a connection. Raises ConfigError."""
    context_name = name or config.current_context
    if not context_name:
        known = _listed(config.contexts)
        raise NoCluster(f"{config.named()} sets no current context", f"choose one with --context: {known}")
    context = config.contexts.get(context_name)
    if context is None:
        where = "" if name else "current "
        raise ConfigError(f"no {where}context {context_name!r} in {config.named()}", f"contexts: {_listed(config.contexts)}")
    cluster, cluster_folder = _entry(config.clusters, context.cluster, "cluster", context_name, config)
    user, user_folder = (
        _entry(config.users, context.user, "user", context_name, config) if context.user else (_User(), cluster_folder)
    )
    return Connection(
        context=context_name,
        namespace=context.namespace or DEFAULT_NAMESPACE,
        server=_server(cluster, cluster_folder, context.cluster),
        user=_user(user, user_folder, context.user),
    )


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names)) or "none"


def _entry(entries: Mapping[str, tuple[_T, Path]], name: str, what: str, context: str, config: Kubeconfig) -> tuple[_T, Path]:
    entry = entries.get(name)
    if entry is None:
        raise ConfigError(
            f"context {context!r} names {what} {name!r}, which is not in {config.named()}", f"{what}s: {_listed(entries)}"
        )
    return entry


def _server(cluster: _Cluster, folder: Path, name: str) -> Server:
    if not cluster.server:
        raise ConfigError(f"cluster {name!r} of the kubeconfig has no server")
    url = cluster.server if "://" in cluster.server else f"https://{cluster.server}"
    if not url.startswith(("https://", "http://")):
        raise ConfigError(f"cluster {name!r} of the kubeconfig has a server that is no http address: {cluster.server}")
    if cluster.insecure_skip_tls_verify and (cluster.certificate_authority or cluster.certificate_authority_data):
        raise ConfigError(
            f"cluster {name!r} of the kubeconfig has both insecure-skip-tls-verify and a certificate authority",
            "remove one of them: kubectl refuses both, too",
        )
    return Server(
        url=url.rstrip("/"),
        ca_file=_path(cluster.certificate_authority, folder) if not cluster.certificate_authority_data else "",
        ca_data=cluster.certificate_authority_data,
        insecure=cluster.insecure_skip_tls_verify,
        tls_server_name=cluster.tls_server_name,
        proxy_url=cluster.proxy_url,
        compression=not cluster.disable_compression,
    )


def _user(user: _User, folder: Path, name: str) -> User:
    if user.auth_provider is not None:
        raise ConfigError(
            f"user {name!r} of the kubeconfig uses auth-provider {user.auth_provider.name!r}, which is not supported",
            "use an exec plugin instead (for oidc: kubectl oidc-login), or a token",
        )
    plugin = None
    if user.exec is not None:
        command = user.exec.command
        if os.sep in command:
            command = _path(command, folder)
        plugin = ExecPlugin(
            command=command,
            arguments=tuple(user.exec.args),
            environment=tuple((variable.name, variable.value) for variable in user.exec.env),
            api_version=user.exec.api_version,
            install_hint=user.exec.install_hint,
            provide_cluster_info=user.exec.provide_cluster_info,
            interactive_mode=user.exec.interactive_mode,
        )
    return User(
        name=name,
        certificate_file=_path(user.client_certificate, folder) if not user.client_certificate_data else "",
        certificate_data=user.client_certificate_data,
        key_file=_path(user.client_key, folder) if not user.client_key_data else "",
        key_data=user.client_key_data,
        token=user.token,
        token_file=_path(user.token_file, folder),
        username=user.username,
        password=user.password,
        impersonate=user.impersonate,
        impersonate_uid=user.impersonate_uid,
        impersonate_groups=tuple(user.impersonate_groups),
        impersonate_extra=tuple((key, tuple(values)) for key, values in user.impersonate_extra.items()),
        plugin=plugin,
    )


def _path(text: str, folder: Path) -> str:
    return str(folder / text) if text else ""
