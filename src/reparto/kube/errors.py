"""What can go wrong between us and a cluster, as one small tree: each error is one sentence that a person can act on.

`hint` is what to do, a second sentence. Nothing here carries a token, a key or the output of a credential plugin.
"""


class KubeError(Exception):
    """The cluster cannot be read; the text says why."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class ConfigError(KubeError):
    """A kubeconfig that is missing, unreadable or contradicts itself, or a context that is not in it."""


class NoCluster(ConfigError):
    """Nothing says which cluster to read: no kubeconfig, no context, not inside a pod."""


class CredentialError(KubeError):
    """Credentials that cannot be had: a missing certificate, an exec plugin that fails."""


class Unreachable(KubeError):
    """No answer: refused, timed out, no such host, a proxy that fails."""


class Untrusted(KubeError):
    """The server's certificate is not one that the kubeconfig trusts, or the server does not trust ours."""


class ApiError(KubeError):
    """The server answered with an error. `status` is the HTTP status, `reason` the API's (`Forbidden`, `Expired`, …)."""

    def __init__(self, status: int, reason: str, message: str, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint)
        self.status, self.reason, self.retry_after = status, reason, retry_after


class Unauthorized(ApiError):
    """401: the server does not accept the credentials."""


class Forbidden(ApiError):
    """403: the user may not read this."""


class NotServed(ApiError):
    """404: the server does not have this resource."""


class Expired(ApiError):
    """410: the list moved on while it was being read page by page."""
