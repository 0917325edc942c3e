"""Exec plugins: a command of the kubeconfig that prints credentials, run when they are needed and again when they expire.

The contract is client.authentication.k8s.io, v1 and v1beta1: what we ask for goes to the command in KUBERNETES_EXEC_INFO, what it
gives comes as an ExecCredential on its standard output. What it says on standard error reaches the terminal at once, for it may
ask the user to open a page; elsewhere its last line becomes part of our error. Source: client-go `plugin/pkg/client/auth/exec`.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from reparto.kube.connection import Connection, ExecPlugin
from reparto.kube.errors import CredentialError

GROUP = "client.authentication.k8s.io"
_SOON = timedelta(seconds=5)  # credentials that expire while a request is on its way are no use
_LONGEST = 300


class Credential(msgspec.Struct, frozen=True):
    """What a plugin gave: a bearer token, a client certificate (PEM), or both, until `expires` (None: until refused)."""

    token: str = ""
    certificate: str = ""
    key: str = ""
    expires: datetime | None = None

    def valid(self, now: datetime) -> bool:
        return self.expires is None or self.expires - _SOON > now

    def __repr__(self) -> str:
        return f"Credential(expires={self.expires})"


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class Plugin:
    """The plugin of one user. `credential()` runs it at most once until what it gave expires."""

    def __init__(
        self,
        connection: Connection,
        plugin: ExecPlugin,
        *,
        stdin_free: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._connection, self._plugin = connection, plugin
        self._stdin_free, self._now = stdin_free, now
        self._environ = os.environ if environ is None else environ
        self._held: Credential | None = None
        self._lock = asyncio.Lock()

    async def credential(self, refused: Credential | None = None) -> Credential:
        """Credentials that are valid now; not `refused`, which the server did not take. Raises CredentialError."""
        async with self._lock:
            held = self._held
            if held is None or held is refused or not held.valid(self._now()):
                held = self._held = await self._run()
            return held

    @property
    def _name(self) -> str:
        return f"exec plugin {os.path.basename(self._plugin.command)!r} of user {self._connection.user.name!r}"

    def _interactive(self) -> bool:
        """Whether the plugin may ask on our standard input. Raises CredentialError where it must and cannot."""
        mode = self._plugin.interactive_mode or "IfAvailable"
        if mode not in ("Never", "IfAvailable", "Always"):
            raise CredentialError(f"{self._name}: interactiveMode {mode!r} is none of Never, IfAvailable, Always")
        available = self._stdin_free and sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]  # None under pythonw and in daemons
        if mode == "Always" and not available:
            why = "standard input is no terminal" if self._stdin_free else "standard input is read with -f -"
            raise CredentialError(f"{self._name} needs to ask you, but {why}", "run it in a terminal, and give files by name")
        return mode != "Never" and available

    async def _run(self) -> Credential:
        plugin = self._plugin
        version = plugin.api_version
        if version not in (f"{GROUP}/v1", f"{GROUP}/v1beta1"):
            raise CredentialError(
                f"{self._name} speaks {version or 'no apiVersion'}, which is not supported",
                f"update the plugin and its kubeconfig entry to {GROUP}/v1",
            )
        if version.endswith("/v1") and not plugin.interactive_mode:
            raise CredentialError(f"{self._name} has no interactiveMode, which {version} requires", "set it to IfAvailable")
        if not plugin.command:
            raise CredentialError(f"user {self._connection.user.name!r} of the kubeconfig has an exec plugin without a command")
        interactive = self._interactive()
        watched = sys.stderr.isatty()
        environment = {
            **self._environ,
            **dict(plugin.environment),
            "KUBERNETES_EXEC_INFO": self._information(interactive),
        }
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *plugin.arguments,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=None if watched else asyncio.subprocess.PIPE,
                env=environment,
            )
        except FileNotFoundError:
            hint = " ".join(plugin.install_hint.split()) or "install it, or put it on PATH"
            raise CredentialError(f"{self._name} is not installed", hint) from None
        except OSError as error:
            raise CredentialError(f"{self._name} cannot be run: {error.strerror}") from None
        try:
            output, complaint = await process.communicate()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            raise
        if process.returncode:
            last = (complaint or b"").decode("utf-8", "replace").strip().rpartition("\n")[2][:_LONGEST]
            said = f": {last}" if last else ""
            raise CredentialError(
                f"{self._name} failed with exit code {process.returncode}{said}",
                f"run it by hand: {plugin.command} {' '.join(plugin.arguments)}",
            )
        return self._understood(output)

    def _information(self, interactive: bool) -> str:
        server = self._connection.server
        spec: dict[str, object] = {"interactive": interactive}
        if self._plugin.provide_cluster_info:
            data = server.ca_data
            if not data and server.ca_file:
                data = msgspec.to_builtins(_contents(server.ca_file))  # bytes become base64, as in the API
            cluster: dict[str, object] = {"server": server.url}
            cluster |= {"tls-server-name": server.tls_server_name} if server.tls_server_name else {}
            cluster |= {"insecure-skip-tls-verify": True} if server.insecure else {}
            cluster |= {"certificate-authority-data": data} if data else {}
            cluster |= {"proxy-url": server.proxy_url} if server.proxy_url else {}
            spec["cluster"] = cluster
        request = {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}
        return msgspec.json.encode(request).decode()

    def _understood(self, output: bytes) -> Credential:
        try:
            answer = msgspec.json.decode(output, type=_ExecCredential)
        except (msgspec.DecodeError, ValueError):
            raise CredentialError(f"{self._name} did not print an ExecCredential") from None
        if answer.kind != "ExecCredential" or answer.api_version != self._plugin.api_version:
            raise CredentialError(
                f"{self._name} printed {answer.api_version or 'no apiVersion'} {answer.kind}, "
                f"but the kubeconfig asks for {self._plugin.api_version} ExecCredential"
            )
        status = answer.status
        if status is None or not (status.token or status.client_certificate_data):
            raise CredentialError(f"{self._name} printed neither a token nor a certificate")
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise CredentialError(f"{self._name} printed a certificate without its key, or a key without its certificate")
        expires = status.expiration_timestamp
        if expires is not None and expires.tzinfo is None:
            expires = expires.replace(tzinfo=UTC)
        return Credential(status.token, status.client_certificate_data, status.client_key_data, expires)


def _contents(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CredentialError(f"certificate authority {path} cannot be read: {error.strerror}") from None
