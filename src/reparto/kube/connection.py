"""Where a cluster is and who we are there, as values: what a kubeconfig or a pod's service account says, and nothing read yet."""

import msgspec


class Server(msgspec.Struct, frozen=True):
    """An API server. `url` has no trailing slash; `ca_data` is base64 of PEM and wins over `ca_file`; "" is unset throughout."""

    url: str
    ca_file: str = ""
    ca_data: str = ""
    insecure: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    compression: bool = True


class ExecPlugin(msgspec.Struct, frozen=True):
    """A command that prints credentials (client.authentication.k8s.io)."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class User(msgspec.Struct, frozen=True):
    """Credentials. `…_data` is base64 of PEM. Secrets are never part of an error or of `repr`."""

    name: str = ""
    certificate_file: str = ""
    certificate_data: str = ""
    key_file: str = ""
    key_data: str = ""
    token: str = ""
    token_file: str = ""
    username: str = ""
    password: str = ""
    impersonate: str = ""
    impersonate_uid: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    plugin: ExecPlugin | None = None

    def __repr__(self) -> str:
        return f"User({self.name!r})"


class Connection(msgspec.Struct, frozen=True):
    """One cluster and one identity. `context` names it in output; `namespace` is the one that commands without -n mean."""

    context: str
    namespace: str
    server: Server
    user: User
