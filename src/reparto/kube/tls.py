"""TLS as Go does it, in Python's terms: whom to trust, and the certificate that says who we are.

Without a certificate authority the system's are trusted. What Go does not ask of a certificate, we do not ask either: API servers
sign their own, and those of long-lived clusters lack what OpenSSL's strict mode wants (an authority key identifier, above all).
"""

import base64
import binascii
import ssl
from pathlib import Path
from tempfile import TemporaryDirectory

from reparto.kube.connection import Server, User
from reparto.kube.errors import ConfigError, CredentialError
from reparto.kube.exec_plugin import Credential


def context(server: Server, user: User, credential: Credential | None = None) -> ssl.SSLContext:
    """The TLS settings for one server and identity. Raises ConfigError or CredentialError for material that cannot be used."""
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.minimum_version = ssl.TLSVersion.TLSv1_2  # Go's default
    settings.verify_flags &= ~ssl.VERIFY_X509_STRICT
    settings.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # any certificate that is trusted may end the chain
    if server.insecure:
        settings.check_hostname = False
        settings.verify_mode = ssl.CERT_NONE
    else:
        _trust(settings, server)
    certificate, key = _own_certificate(user, credential)
    if certificate and key:
        _identify(settings, certificate, key, user)
    return settings


def _trust(settings: ssl.SSLContext, server: Server) -> None:
    if not server.ca_data and not server.ca_file:
        settings.load_default_certs()
        return
    what = "certificate-authority-data" if server.ca_data else f"certificate authority {server.ca_file}"
    pem = _decoded(server.ca_data, what) if server.ca_data else _read(server.ca_file, what)
    try:
        settings.load_verify_locations(cadata=pem.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise ConfigError(f"{what} holds no certificate", "it must be PEM: -----BEGIN CERTIFICATE-----") from None


def _own_certificate(user: User, credential: Credential | None) -> tuple[bytes, bytes]:
    if credential is not None and credential.certificate:
        return credential.certificate.encode(), credential.key.encode()
    certificate = _part(user.certificate_data, user.certificate_file, "client certificate", user)
    key = _part(user.key_data, user.key_file, "client key", user)
    if bool(certificate) != bool(key):
        has, lacks = ("certificate", "key") if certificate else ("key", "certificate")
        raise CredentialError(f"user {user.name!r} of the kubeconfig has a client {has} but no client {lacks}")
    return certificate, key


def _part(data: str, file: str, what: str, user: User) -> bytes:
    if data:
        return _decoded(data, f"{what} data of user {user.name!r}")
    return _read(file, f"{what} {file}") if file else b""


def _decoded(data: str, what: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ConfigError(f"{what} is not base64", "give the kubeconfig anew, it was damaged on its way") from None


def _read(file: str, what: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise ConfigError(f"{what} cannot be read: {error.strerror}") from None


def _identify(settings: ssl.SSLContext, certificate: bytes, key: bytes, user: User) -> None:
    """Python reads certificates from files only: one that nobody else can read, for the blink that it takes."""
    with TemporaryDirectory(prefix="reparto-") as folder:  # mode 0700
        file = Path(folder) / "identity.pem"
        file.touch(mode=0o600)
        file.write_bytes(certificate.rstrip() + b"\n" + key)
        try:
            settings.load_cert_chain(file, password=_no_password)
        except (ssl.SSLError, ValueError):
            raise CredentialError(f"the client certificate and key of user {user.name!r} cannot be used together") from None


def _no_password() -> str:
    raise ValueError("encrypted keys are not supported")  # OpenSSL would ask on the terminal
