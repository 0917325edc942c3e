"""A real etcd and kube-apiserver 1.37.2 on loopback, empty, for the time of a test: nothing of a cluster besides its API.

    with control_plane(folder) as cluster:
        cluster.apply(node)                      # with its status, through the status subresource
        cluster.kubeconfig                       # of an administrator

No controller and no scheduler run, so objects stay as they were put. Starts in about four seconds. By hand:
`PYTHONPATH=tests python -m conformance.control_plane FOLDER` prints the kubeconfig and runs until it is interrupted.
"""

from __future__ import annotations

import json
import secrets
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import trustme

from conformance.oracle import program

READY_SECONDS = 120
STOP_SECONDS = 20
#: Paths of the kinds that tests create; `{}` is the namespace.
PATHS = {
    "Namespace": "/api/v1/namespaces",
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/{}/pods",
    "ResourceQuota": "/api/v1/namespaces/{}/resourcequotas",
    "LimitRange": "/api/v1/namespaces/{}/limitranges",
    "Secret": "/api/v1/namespaces/{}/secrets",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "ResourceSlice": "/apis/resource.k8s.io/v1/resourceslices",
    "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses",
    "DeviceTaintRule": "/apis/resource.k8s.io/v1/devicetaintrules",
    "ResourceClaim": "/apis/resource.k8s.io/v1/namespaces/{}/resourceclaims",
    "ResourceClaimTemplate": "/apis/resource.k8s.io/v1/namespaces/{}/resourceclaimtemplates",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}
WITH_STATUS = ("Node", "Pod", "ResourceClaim", "Namespace")
#: What a server gives to every new object, and refuses to be given or ignores.
GIVEN_BY_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")

Object = Mapping[str, Any]


class ControlPlane:
    """The two processes, and how to talk to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""
        self.ca = folder / "certs" / "apiserver.crt"  # the server signs its own certificate
        self.client_ca = trustme.CA()
        self.tokens = {"admin": secrets.token_hex(16), "reader": secrets.token_hex(16)}
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        binary = program("control-plane")
        folder = self.folder
        clients, peers, secure = _free_ports(3)
        self.url = f"https://127.0.0.1:{secure}"
        identity = trustme.CA().issue_cert("service-accounts")
        identity.private_key_pem.write_to_path(str(folder / "service-accounts.key"))
        self.client_ca.cert_pem.write_to_path(str(folder / "clients.crt"))
        tokens = folder / "tokens.csv"
        tokens.touch(mode=0o600)
        tokens.write_text(f'{self.tokens["admin"]},admin,admin,"system:masters"\n{self.tokens["reader"]},reader,reader\n')
        etcd, peer = f"http://127.0.0.1:{clients}", f"http://127.0.0.1:{peers}"
        flags = {
            "data-dir": folder / "etcd",
            "listen-client-urls": etcd,
            "advertise-client-urls": etcd,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "unsafe-no-fsync": "true",
            "log-level": "warn",
        }
        self._wait(f"{etcd}/health", self._run("etcd", binary, flags))
        key = folder / "service-accounts.key"
        flags = {
            "etcd-servers": etcd,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "secure-port": secure,
            "cert-dir": folder / "certs",
            "service-cluster-ip-range": "10.0.0.0/24",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": key,
            "service-account-signing-key-file": key,
            "token-auth-file": tokens,
            "client-ca-file": folder / "clients.crt",
            "authorization-mode": "Node,RBAC",
            "endpoint-reconciler-type": "none",
            # The first wants a controller that makes accounts, the second taints every new node as not ready.
            "disable-admission-plugins": "ServiceAccount,TaintNodesByCondition",
            "runtime-config": "resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true",
        }
        self._wait(f"{self.url}/readyz", self._run("kube-apiserver", binary, flags))

    def stop(self) -> None:
        """The API server first: it would redial an etcd that is gone."""
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _run(self, part: str, binary: Path, flags: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        command = [str(binary), part, *(f"--{name}={value}" for name, value in flags.items())]
        with open(self.folder / f"{part}.log", "wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
        self._processes.append(process)
        return process

    def _wait(self, url: str, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end:
            if process.poll() is not None:
                break
            try:
                self._open(url).close()
                return
            except OSError:
                time.sleep(0.05)
        logs = sorted(self.folder.glob("*.log"))
        raise RuntimeError(f"{url} does not come up:\n" + "\n".join(path.read_text(errors="replace")[-2000:] for path in logs))

    def _open(self, url: str, method: str = "GET", body: Object | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens['admin']}", "Content-Type": "application/json"}
        request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers, method=method)
        trust = ssl.create_default_context(cafile=str(self.ca)) if self.ca.exists() and url.startswith("https") else None
        return urllib.request.urlopen(request, timeout=10, context=trust)

    # --- what tests do with it ---------------------------------------------------------------------------------------------------

    def request(self, method: str, path: str, body: Object | None = None) -> dict[str, Any]:
        """An administrator's request; its answer. Fails with what the server said."""
        try:
            with self._open(self.url + path, method, body) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")
            raise AssertionError(f"{method} {path}: {error.code} {said}") from None

    def apply(self, obj: Object) -> dict[str, Any]:
        """Create an object (of any version), then its status where its kind has one of its own; the object as stored."""
        path = self._path(obj)
        metadata = {key: value for key, value in obj["metadata"].items() if key not in GIVEN_BY_SERVER}
        new = {key: value for key, value in obj.items() if key != "status"} | {"metadata": metadata}
        stored = self.request("POST", path, new)
        if obj.get("status") and obj["kind"] in WITH_STATUS:
            stored = self.request("PUT", f"{path}/{stored['metadata']['name']}/status", {**stored, "status": obj["status"]})
        return stored

    def _path(self, obj: Object) -> str:
        path = PATHS[obj["kind"]].format(obj["metadata"].get("namespace", "default"))
        if obj["apiVersion"].startswith("resource.k8s.io/"):
            path = path.replace("resource.k8s.io/v1", obj["apiVersion"], 1)
        return path

    def kubeconfig(self, user: str = "admin", namespace: str = "", **settings: Any) -> Path:
        """A kubeconfig whose current context is `user`'s; `settings` instead of its token."""
        path = self.folder / f"{user}.kubeconfig"
        context = {"cluster": "test", "user": user} | ({"namespace": namespace} if namespace else {})
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": user,
            "clusters": [{"name": "test", "cluster": {"server": self.url, "certificate-authority": str(self.ca)}}],
            "users": [{"name": user, "user": settings or {"token": self.tokens[user]}}],
            "contexts": [{"name": user, "context": context}],
        }
        path.touch(mode=0o600)
        path.write_text(json.dumps(content, indent=2))
        return path


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def control_plane(folder: Path) -> Iterator[ControlPlane]:
    """A running control plane with its state in `folder`. Where Go is missing the test is skipped (in CI: fails)."""
    cluster = ControlPlane(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with control_plane(folder.absolute()) as cluster:
        print(cluster.kubeconfig(), flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
