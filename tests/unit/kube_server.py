"""A Kubernetes API on loopback that answers what a test tells it to: lists by page, discovery, refusals, and faults on demand.

It runs in threads of this process, speaks HTTP or TLS, and remembers every request.
"""

from __future__ import annotations

import gzip
import json
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Object = Mapping[str, Any]

VERSION = {"gitVersion": "v1.37.2", "major": "1", "minor": "37", "emulationMajor": "1", "emulationMinor": "37"}
#: group → version → (resource, kind, namespaced), as a cluster of 1.37 serves them
SERVED: dict[str, dict[str, list[tuple[str, str, bool]]]] = {
    "resource.k8s.io": {
        "v1": [
            ("resourceslices", "ResourceSlice", False),
            ("deviceclasses", "DeviceClass", False),
            ("resourceclaims", "ResourceClaim", True),
            ("resourceclaimtemplates", "ResourceClaimTemplate", True),
            ("devicetaintrules", "DeviceTaintRule", False),
        ]
    },
    "scheduling.k8s.io": {"v1": [("priorityclasses", "PriorityClass", False)]},
    "apps": {"v1": [("deployments", "Deployment", True), ("replicasets", "ReplicaSet", True)]},
}


@dataclass
class Request:
    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass
class Answer:
    """What to answer once, instead of what would be answered. `body=None` closes the connection without a word."""

    status: int
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def refusal(status: int, reason: str, message: str, **details: Any) -> Answer:
    """The API's way of saying no."""
    return Answer(
        status,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": status,
            **details,
        },
    )


@dataclass
class Api:
    """The server's state. `lists`: path of a resource (all namespaces) → its objects. `forbidden`: paths refused with 403."""

    lists: dict[str, list[Object]] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)
    token: str | None = None
    served: dict[str, dict[str, list[tuple[str, str, bool]]]] = field(default_factory=lambda: dict(SERVED))
    version: dict[str, str] = field(default_factory=lambda: dict(VERSION))
    aggregated: bool = True
    compressed: bool = False
    scripted: dict[str, list[Answer]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    url: str = ""

    def put(self, *objects: Object) -> None:
        """Hold these objects, in the lists of their kinds."""
        for obj in objects:
            self.lists.setdefault(self._collection(obj), []).append(obj)

    def _collection(self, obj: Object) -> str:
        group, _, version = str(obj["apiVersion"]).rpartition("/")
        plural = str(obj["kind"]).lower() + ("es" if str(obj["kind"]).endswith("s") else "s")
        return f"/apis/{group}/{version}/{plural}" if group else f"/api/{version}/{plural}"

    def asked(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    def answer(self, request: Request) -> Answer:
        scripted = self.scripted.get(request.path)
        if scripted:
            return scripted.pop(0)
        if self.token is not None and request.headers.get("authorization") != f"Bearer {self.token}":
            return refusal(401, "Unauthorized", "Unauthorized")
        if request.path in self.forbidden:
            resource = request.path.rpartition("/")[2]
            return refusal(403, "Forbidden", f'{resource} is forbidden: User "jane" cannot list resource "{resource}"')
        if request.path == "/version":
            return Answer(200, self.version)
        if request.path == "/apis":
            return Answer(200, self._groups("APIGroupDiscoveryList" in request.headers.get("accept", "")))
        parts = request.path.strip("/").split("/")
        if len(parts) == 3 and parts[0] == "apis" and parts[1] in self.served:
            return Answer(200, self._resources(parts[1], parts[2]))
        return self._list(request)

    def _groups(self, aggregated: bool) -> Object:
        if not (aggregated and self.aggregated):
            groups = [
                {"name": name, "versions": [{"version": version} for version in versions]} for name, versions in self.served.items()
            ]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "items": [
                {
                    "metadata": {"name": name},
                    "versions": [
                        {
                            "version": version,
                            "resources": [
                                {
                                    "resource": resource,
                                    "responseKind": {"group": name, "version": version, "kind": kind},
                                    "scope": "Namespaced" if namespaced else "Cluster",
                                    "verbs": ["get", "list", "watch"],
                                }
                                for resource, kind, namespaced in resources
                            ],
                        }
                        for version, resources in versions.items()
                    ],
                }
                for name, versions in self.served.items()
            ],
        }

    def _resources(self, group: str, version: str) -> Object:
        return {
            "kind": "APIResourceList",
            "groupVersion": f"{group}/{version}",
            "resources": [
                entry
                for resource, kind, namespaced in self.served[group].get(version, [])
                for entry in (
                    {"name": resource, "kind": kind, "namespaced": namespaced, "verbs": ["get", "list"]},
                    {"name": f"{resource}/status", "kind": kind, "namespaced": namespaced, "verbs": ["get"]},
                )
            ],
        }

    def _list(self, request: Request) -> Answer:
        path, namespace = request.path, None
        parts = path.split("/")
        if "namespaces" in parts[:-1]:
            at = parts.index("namespaces")
            namespace = parts[at + 1]
            path = "/".join(parts[:at] + parts[at + 2 :])
        items = [item for item in self.lists.get(path, []) if namespace in (None, item["metadata"].get("namespace"))]
        start, limit = int(request.query.get("continue") or 0), int(request.query.get("limit") or 0) or len(items) or 1
        page = [
            {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
            for item in items[start : start + limit]
        ]
        following = str(start + limit) if start + limit < len(items) else ""
        return Answer(200, {"kind": "List", "metadata": {"resourceVersion": "7", "continue": following}, "items": page})


@contextmanager
def serving(api: Api, tls: ssl.SSLContext | None = None) -> Iterator[Api]:
    """`api` on a free port of 127.0.0.1, at `api.url`, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}, headers)
            api.requests.append(request)
            answer = api.answer(request)
            if answer.body is None:
                self.close_connection = True
                return
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            if api.compressed and "gzip" in headers.get("accept-encoding", ""):
                body = gzip.compress(body)
                self.send_header("Content-Encoding", "gzip")
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_CONNECT(self) -> None:
            self.send_error(501)

        def log_message(self, format: str, *args: Any) -> None:
            """Silence: the requests are remembered."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that hangs up, as clients of broken TLS do, is no failure of the test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        api.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield api
        finally:
            server.shutdown()
            thread.join()


def write_kubeconfig(path: Path, url: str, user: Object | None = None, cluster: Object | None = None, namespace: str = "") -> Path:
    """A kubeconfig with one context, `test`. JSON is YAML."""
    context = {"cluster": "c", "user": "jane"} | ({"namespace": namespace} if namespace else {})
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "c", "cluster": {"server": url, **(cluster or {})}}],
        "users": [{"name": "jane", "user": user or {}}],
        "contexts": [{"name": "test", "context": context}],
    }
    path.write_text(json.dumps(content))
    return path


def names(objects: Sequence[bytes]) -> list[str]:
    """`Kind/name` of objects as they are read."""
    values = [json.loads(item) for item in objects]
    return [f"{value['kind']}/{value['metadata']['name']}" for value in values]
