"""The service account of the pod that we run in: the connection where no kubeconfig is.

Source: client-go `rest.InClusterConfig`.
"""

from collections.abc import Mapping
from pathlib import Path

from reparto.kube.connection import Connection, Server, User

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CONTEXT = "in-cluster"


def connection(environ: Mapping[str, str], folder: Path = SERVICE_ACCOUNT) -> Connection | None:
    """How the pod reaches its API server; None outside a pod. The token is read anew for each use, for the kubelet renews it."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "")
    token = folder / "token"
    if not host or not port or not token.is_file():
        return None
    address = f"[{host}]" if ":" in host else host
    authority, namespace = folder / "ca.crt", folder / "namespace"
    return Connection(
        context=CONTEXT,
        namespace=(namespace.read_text().strip() if namespace.is_file() else "") or "default",
        server=Server(url=f"https://{address}:{port}", ca_file=str(authority) if authority.is_file() else ""),
        user=User(name="service account", token_file=str(token)),
    )
