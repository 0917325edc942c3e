"""One API server, asked for JSON: who we are, over TLS and proxies, patiently.

`get` is the only verb. It asks again where that helps (429, 5xx, a connection that broke), gets new credentials once where the
server refuses the ones we hold, and turns everything else into one error of `reparto.kube.errors`.
"""

import base64
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx2
import msgspec

from reparto import __version__
from reparto.kube import proxies, tls
from reparto.kube.connection import Connection
from reparto.kube.errors import (
    ApiError,
    CredentialError,
    Expired,
    Forbidden,
    KubeError,
    NotServed,
    Unauthorized,
    Unreachable,
    Untrusted,
)
from reparto.kube.exec_plugin import Credential, Plugin
from reparto.kube.retries import RETRIED, Backoff

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0  # the server's own limit on a list request
_LONGEST = 300  # characters of a foreign text in a sentence
_IDENTITY = "identity"

_T = TypeVar("_T")


class _StatusDetails(msgspec.Struct, rename="camel"):
    retry_after_seconds: int = 0


class _Status(msgspec.Struct):
    """The API's answer where it refuses (meta/v1 Status)."""

    kind: str = ""
    message: str = ""
    reason: str = ""
    details: _StatusDetails | None = None


class Client:
    """`async with Client(connection) as client:`, then `await client.get(path, type)`."""

    def __init__(
        self,
        connection: Connection,
        *,
        backoff: Backoff | None = None,
        environ: Mapping[str, str] | None = None,
        stdin_free: bool = True,
    ) -> None:
        self.connection = connection
        self._backoff = backoff or Backoff()
        self._environ = os.environ if environ is None else environ
        plugin = connection.user.plugin
        self._plugin = Plugin(connection, plugin, stdin_free=stdin_free, environ=self._environ) if plugin else None
        self._http: httpx2.AsyncClient | None = None
        self._certificate: str | None = None  # the one that `_http` shows, where a plugin gave it

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def get(
        self, path: str, answer: type[_T], parameters: Mapping[str, str] | None = None, accept: str = "application/json"
    ) -> _T:
        """The body of `path` as `answer`. Raises KubeError, nothing else."""
        body = await self._body(path, parameters or {}, accept)
        try:
            return msgspec.json.decode(body, type=answer)
        except (msgspec.DecodeError, ValueError) as error:
            raise KubeError(
                f"{self._place} answered {path} with something else than JSON of Kubernetes: {_short(str(error))}",
                "is this the address of an API server?",
            ) from None

    @property
    def _place(self) -> str:
        return f"the server of context {self.connection.context!r} ({self.connection.server.url})"

    async def _body(self, path: str, parameters: Mapping[str, str], accept: str) -> bytes:
        failures = 0
        renewed = False
        while True:
            credential = await self._plugin.credential() if self._plugin else None
            error: KubeError
            try:
                return await self._ask(path, parameters, accept, credential)
            except Unauthorized as refused:
                if self._plugin is None or renewed:
                    raise
                renewed, error = True, refused
                await self._plugin.credential(refused=credential)
                continue
            except ApiError as answered:
                if answered.status not in RETRIED:
                    raise
                error = answered
                after = answered.retry_after
            except _Broken as broken:
                error, after = broken.error, None
            failures += 1
            if failures >= self._backoff.attempts:
                raise error
            await self._backoff.wait(failures, after)

    async def _ask(self, path: str, parameters: Mapping[str, str], accept: str, credential: Credential | None) -> bytes:
        http = await self._connected(credential)
        headers = [("Accept", accept), *self._identity(credential)]
        name = self.connection.server.tls_server_name
        extensions: dict[str, Any] = {"sni_hostname": name} if name else {}
        try:
            response = await http.get(
                self.connection.server.url + path, params=dict(parameters), headers=headers, extensions=extensions
            )
        except httpx2.InvalidURL:
            raise KubeError(f"{self.connection.server.url} is no address of a server") from None
        except httpx2.DecodingError:
            raise _Broken(Unreachable(f"{self._place} sent a damaged answer")) from None
        except (httpx2.TransportError, OSError) as error:  # under TLS 1.3 a refused certificate shows as the bare error of a read
            raise self._failed(error) from None
        if response.is_success:
            return response.content
        raise self._refused(response, path)

    async def _connected(self, credential: Credential | None) -> httpx2.AsyncClient:
        certificate = credential.certificate if credential else None
        if self._http is not None and certificate == self._certificate:
            return self._http
        server = self.connection.server
        settings = tls.context(server, self.connection.user, credential) if server.url.startswith("https:") else False
        if self._http is not None:
            await self._http.aclose()
        encodings = "gzip" if server.compression else _IDENTITY
        self._http = httpx2.AsyncClient(
            verify=settings,
            trust_env=False,  # proxies by Go's rules, and no .netrc
            proxy=proxies.proxy_for(server, self._environ),
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS, pool=None),
            headers={"User-Agent": f"reparto/{__version__}", "Accept-Encoding": encodings},
            follow_redirects=False,
        )
        self._certificate = certificate
        return self._http

    def _identity(self, credential: Credential | None) -> Iterator[tuple[str, str]]:
        user = self.connection.user
        if credential is not None and credential.token:
            yield "Authorization", f"Bearer {credential.token}"
        elif user.token_file:
            yield "Authorization", f"Bearer {self._token(user.token_file)}"
        elif user.token:
            yield "Authorization", f"Bearer {user.token}"
        elif user.username:
            pair = base64.b64encode(f"{user.username}:{user.password}".encode()).decode()
            yield "Authorization", f"Basic {pair}"
        if user.impersonate:
            yield "Impersonate-User", user.impersonate
        if user.impersonate_uid:
            yield "Impersonate-Uid", user.impersonate_uid
        for group in user.impersonate_groups:
            yield "Impersonate-Group", group
        for name, values in user.impersonate_extra:
            for value in values:
                yield f"Impersonate-Extra-{quote(name, safe='')}", value

    def _token(self, file: str) -> str:
        """Read for every request: whoever issues the token renews the file."""
        try:
            token = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            if self.connection.user.token:
                return self.connection.user.token
            reason = error.strerror if isinstance(error, OSError) else "not text"
            raise CredentialError(f"token file {file} cannot be read: {reason}") from None
        if not token:
            raise CredentialError(f"token file {file} is empty")
        return token

    def _failed(self, error: httpx2.TransportError | OSError) -> Exception:
        """What a request that got no answer becomes; `_Broken` where asking again may help."""
        cause = _root(error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = cause.verify_message or "not trusted"
            return Untrusted(
                f"the certificate of {self._place} is not trusted: {reason}",
                "check certificate-authority and tls-server-name of the cluster in the kubeconfig",
            )
        if isinstance(cause, ssl.SSLError):
            reason = (cause.reason or str(cause)).lower().replace("_", " ")
            if "unknown ca" in reason or "bad certificate" in reason or "certificate required" in reason:
                return Untrusted(f"{self._place} does not accept our client certificate: {reason}", "get a new kubeconfig")
            return Unreachable(f"{self._place} does not speak TLS as we do: {reason}", "check the address and the proxy")
        if isinstance(error, httpx2.ProxyError):
            return Unreachable(
                f"the proxy on the way to {self._place} fails: {_short(str(error))}", "check proxy-url, HTTPS_PROXY and NO_PROXY"
            )
        if isinstance(error, httpx2.TimeoutException):
            connecting = isinstance(error, httpx2.ConnectTimeout)
            limit = CONNECT_SECONDS if connecting else READ_SECONDS
            what = "took no connection" if connecting else "sent nothing"
            failure = Unreachable(f"{self._place} {what} for {limit:.0f} seconds", "check the network: VPN, firewall, proxy")
            return failure if connecting else _Broken(failure)
        if isinstance(error, httpx2.ConnectError):
            return Unreachable(f"cannot reach {self._place}: {_spoken(cause)}", "is it running, and is the address right?")
        return _Broken(Unreachable(f"{self._place} broke the connection: {_short(str(error)) or type(error).__name__}"))

    def _refused(self, response: httpx2.Response, path: str) -> ApiError:
        status = _status_of(response.content)
        said = _short(status.message) if status else ""
        code = response.status_code
        reason = status.reason if status else response.reason_phrase
        user = self.connection.user.name
        if code == 401:
            return Unauthorized(
                code,
                reason,
                f"{self._place} does not accept the credentials of user {user!r} (401)",
                "they have expired or were revoked: log in again, or give a new token",
            )
        if code == 403:
            return Forbidden(code, reason, said or f"user {user!r} may not read {path}")
        if code == 404:
            return NotServed(code, reason, f"{self._place} has no {path}")
        if code == 410:
            return Expired(code, reason, said or "the list has expired")
        if response.is_redirect:
            return ApiError(
                code, reason, f"{self._place} sends elsewhere: {response.headers.get('location', '?')}", "is it an API server?"
            )
        after = self._backoff.retry_after(response.headers.get("retry-after"))
        if after is None and status is not None and status.details is not None and status.details.retry_after_seconds:
            after = float(status.details.retry_after_seconds)
        return ApiError(code, reason, f"{self._place} answered {path} with {code} {said or reason}".rstrip(), "", after)


class _Broken(Exception):
    """A request without an answer that may get one if asked again."""

    def __init__(self, error: KubeError) -> None:
        super().__init__(str(error))
        self.error = error


def _root(error: BaseException) -> BaseException:
    """The operating system's or OpenSSL's own error below the library's."""
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    return error


def _spoken(cause: BaseException) -> str:
    """The operating system's error in its own words, without numbers."""
    if isinstance(cause, BaseExceptionGroup):
        return _spoken(cast("BaseExceptionGroup[BaseException]", cause).exceptions[0])
    if isinstance(cause, socket.gaierror):
        return "no such host"
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno).lower()
    return _short(str(cause)).lower() or "no connection"


def _status_of(body: bytes) -> _Status | None:
    try:
        status = msgspec.json.decode(body, type=_Status)
    except (msgspec.DecodeError, ValueError):
        return None
    return status if status.kind == "Status" else None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
