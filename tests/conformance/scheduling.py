"""Random clusters with pods to place, hard on purpose, as the scheduling oracle reads them (reference/README.md).

A cluster is made from *features*, each of which brings one part of the scheduler into play. A cluster with one feature tells what
is wrong, pairs find what two rules do to each other, all together find the rest. Resources are scarce and values few, so that rules
collide: a good part of the pods stays pending, and the place of nearly every other one is decided by a filter or by a score.

Objects are as the API server stores them: defaulted, admitted, claims made from their templates.

What upstream answers at random or by timing is never generated (upstream-dra.md 3.18): preemption (no pod may preempt); slices that
disagree about their pool's size; node names to choose from in `matchFields` (kept in a map); several claims of one pod of which
PostFilter would free any; a pod that names one claim twice (each mention is allocated for, and which stays depends on who is
first); devices whose binding is waited for; finished pods (a real API server does not list them for the scheduler, the in-memory
one does).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from itertools import combinations
from typing import Any

Problem = dict[str, Any]
Object = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
LEGACY_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"
SCHEDULER = "default-scheduler"
# Names that no driver uses which we know: for its classes we would make up for what a shrunk cluster lacks.
GPU, MIG, VGPU, NET = "gpu.vendor.test", "mig.vendor.test", "vgpu.vendor.test", "net.vendor.test"
APPS = ("web", "db", "job")
OWNERS = {"replicaSets": "ReplicaSet", "statefulSets": "StatefulSet", "replicationControllers": "ReplicationController"}
EXTENDED = "vendor.test/gpu"
SECOND = "vendor.test/big"
PLUGIN = "vendor.test/fpga"
EXOTIC = ((MIG, "counters"), (VGPU, "capacity"), (NET, "network"))
IMPLICIT = "deviceclass.resource.kubernetes.io/"
IMAGES = (("one", "v1", 30_000_000), ("two", "v1", 400_000_000), ("three", "v1", 2_500_000_000), ("four", "latest", 900_000_000))
RESTARTS = "RestartAllContainersOnContainerExits"
USER_NAMESPACES = "UserNamespacesHostNetworkSupport"

FEATURES = (
    # nodes
    "zones",
    "taints",
    "unschedulable",
    "images",
    "declared",
    "shapes",  # nodes of different sizes, nearly full
    # what pods need of a node
    "selector",
    "affinity",
    "preferred",
    "fields",
    "ports",
    "init",
    "overhead",
    "podlevel",
    "storage",  # ephemeral storage, hugepages
    "scalars",  # extended resources of device plugins
    "odd-requests",  # none, zero, fractions, limits only
    # pods and pods
    "podaffinity",
    "antiaffinity",
    "podpreferred",
    "namespaces",
    "labelkeys",
    "spread",
    "softspread",
    "owners",  # services, replica sets: the scheduler's own spreading
    "terminating",
    # the queue
    "bound",
    "resized",  # pods whose node has not given them what they ask for by now
    "priority",
    "gates",
    "otherscheduler",
    "nominated",
    # claims
    "claims",
    "shared",
    "allocated",
    "reserved",
    "deleted",
    "lost",  # claims that are missing, or another pod's
    "binding",  # binding conditions that are met, or have failed
    "broken",  # pools that are incomplete, or of several generations
    "alternatives",
    "counters",
    "capacity",
    "devicetaints",
    "taintrules",
    "network",  # slices for several nodes
    "all",  # allocationMode
    "admin",
    "config",
    "constraints",
    "celerrors",
    "noclass",
    "extended",
    "implicit",
    "plugin",  # some nodes serve the resource by device plugin
    "stale",  # claims that an earlier attempt invented
    # the search for nodes
    "percentage",
)
DEVICES = frozenset(FEATURES[FEATURES.index("claims") : FEATURES.index("percentage")])
"""The features that need devices."""
NEED_CLAIMS = DEVICES - {"extended", "implicit", "plugin", "stale"}
RARE = (
    "celerrors",
    "noclass",
    "lost",
    "deleted",
    "percentage",
    "admin",
    "all",
    "gates",
    "otherscheduler",
    "fields",
    "unschedulable",
)
"""Left out of most clusters with everything, for they end a pod's attempt before the rest has its turn."""


class Maker:
    """Makes one cluster. Every choice comes from `rng`, so a seed and a number name the cluster."""

    def __init__(self, rng: random.Random, features: Iterable[str], large: bool = False) -> None:
        self.rng = rng
        self.features = frozenset(features)
        self.large = large
        self.crowd = len(self.features) > 6
        self.namespaces = ["a", "b", "c"] if "namespaces" in self.features else ["a"]
        self.node_names: list[str] = []
        self.zone_names: list[str] = []
        self.devices: list[tuple[str, str, str, str]] = []  # driver, pool, device, node ("" where several have it)
        self.shared: list[Object] = []
        self.held: set[str] = set()  # shared claims that PostFilter might free
        self.claims: list[Object] = []
        self.classes: dict[str, Object] = {}
        self.taken: set[tuple[str, str, str]] = set()
        self.shares = 0

    def has(self, feature: str, chance: float = 1.0) -> bool:
        return feature in self.features and self.rng.random() < chance

    def asks(self, feature: str, chance: float) -> bool:
        """Like `has`, for what makes a pod harder to place: less often where many features do that together."""
        return self.has(feature, chance * (0.45 if self.crowd else 1))

    # --- the cluster --------------------------------------------------------------------------------------------------------------

    def problem(self) -> Problem:
        rng = self.rng
        number = rng.randint(120, 300) if self.large else rng.choice((1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 30))
        self.zone_names = [f"z{index}" for index in range(rng.choice((1, 2, 3, 3, 4)))] if self.has("zones") else []
        self.node_names = rng.sample([f"node-{index:03d}" for index in range(2 * number)], number)
        nodes = [self.node(name) for name in self.node_names]
        problem: Problem = {"nodes": nodes, "namespaces": [self.namespace(name) for name in self.namespaces]}
        slices: list[Object] = []
        if self.features & DEVICES:
            slices = self.slices(nodes)
            problem["classes"] = self.device_classes()
            problem["slices"] = slices
        if self.has("taintrules"):
            problem["taintRules"] = [self.taint_rule(f"rule-{index}") for index in range(rng.choice((1, 1, 2, 3)))]
        if "priority" in self.features:
            problem["priorityClasses"] = [
                {"metadata": {"name": name}, "value": value, "preemptionPolicy": "Never"}
                for name, value in (("low", -10), ("normal", 100), ("high", 10_000))
            ]
        if self.features & {"shared", "allocated", "reserved", "deleted", "binding"}:
            self.shared = [self.shared_claim(f"shared-{index}") for index in range(rng.choice((1, 2, 3, 4)))]
        pods: list[Object] = []
        if self.features & {"bound", "terminating", "resized"}:
            pods += [
                self.pod(f"bound-{index}", rng.choice(self.node_names)) for index in range(rng.randint(1, 60 if self.large else 12))
            ]
        amount = rng.choice((12, 24, 40, 120)) if self.large else min(rng.choice((4, 6, 8, 10, 14, 20, 28, 40)), 4 * number + 2)
        amount += len(pods)
        while len(pods) < amount:
            self.group(pods)
        if "owners" in self.features:
            problem |= self.owners()
        for claim in self.shared:
            users = [pod["metadata"] for pod in pods if _uses(pod, claim)]
            if claim["metadata"]["name"] in self.held and users and self.has("reserved", 0.4):
                claim["status"]["reservedFor"] = [{"resource": "pods", "name": users[0]["name"], "uid": users[0]["uid"]}]
        problem["pods"] = pods
        problem["claims"] = self.claims
        if self.has("percentage"):
            problem["percentageOfNodesToScore"] = rng.choice((1, 5, 20, 50, 90, 100))
        for kind in ("nodes", "slices", "classes", "claims", "namespaces"):
            rng.shuffle(problem.get(kind, []))
        return problem

    def group(self, pods: list[Object]) -> None:
        """One pod, or a few alike, as a workload makes them."""
        outer = self.rng
        alike, template = outer.choice((1, 1, 1, 2, 3, 5)), outer.randrange(2**32)
        for _ in range(alike):
            self.rng = random.Random(template)
            pods.append(self.pod(f"pod-{len(pods):02d}"))
        self.rng = outer

    def namespace(self, name: str) -> Object:
        labels = {"a": {"team": "x"}, "b": {"team": "y", "env": "prod"}, "c": {"env": "prod"}}[name]
        return {"metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name} | labels}}

    def node(self, name: str) -> Object:
        rng = self.rng
        labels = {
            HOSTNAME: name,
            "disk": rng.choice(("ssd", "hdd")),
            "rack": str(rng.randint(1, 9)) if rng.random() < 0.95 else "top",
        }
        if self.has("odd-requests", 0.1):
            del labels[HOSTNAME]
        if self.zone_names and rng.random() < 0.9:
            labels[ZONE if rng.random() < 0.95 else LEGACY_ZONE] = rng.choice(self.zone_names)
            if rng.random() < 0.5:
                labels[REGION] = "r1"
        if rng.random() < 0.3:
            labels["example.com/gpu"] = "true"
        cpu, memory = "16", "64Gi"
        if "shapes" in self.features:
            cpu, memory = rng.choice(("1", "2", "3500m", "4", "8", "16")), rng.choice(("2Gi", "4Gi", "7900Mi", "16Gi", "64Gi"))
        allocatable = {
            "cpu": cpu,
            "memory": memory,
            "pods": rng.choice(("110", "110", "8", "3", "2")) if self.has("shapes") else "110",
        }
        if self.has("shapes", 0.05):
            del allocatable[rng.choice(("cpu", "memory", "pods"))]
        if self.has("storage", 0.9):
            allocatable["ephemeral-storage"] = rng.choice(("10Gi", "100Gi", "0"))
            if rng.random() < 0.6:
                allocatable["hugepages-2Mi"] = rng.choice(("64Mi", "1Gi", "0"))
        if self.has("scalars", 0.7):
            allocatable[PLUGIN] = rng.choice(("1", "2", "4", "0"))
        if self.has("plugin", 0.4):
            allocatable[EXTENDED] = rng.choice(("1", "2", "0"))
        node: Object = {
            "metadata": {"name": name, "labels": labels},
            "spec": {},
            "status": {"allocatable": allocatable, "capacity": allocatable | {"cpu": "32", "pods": "250"}},
        }
        if self.has("taints", 0.5):
            node["spec"]["taints"] = [self.taint() for _ in range(rng.choice((1, 1, 2)))]
        if self.has("unschedulable", 0.25):
            node["spec"]["unschedulable"] = True
            if rng.random() < 0.7:
                node["spec"].setdefault("taints", []).append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        if self.has("images", 0.7):
            node["status"]["images"] = [
                {
                    "names": [f"registry.test/{image}:{tag}", f"registry.test/{image}@sha256:{'0' * 64}"],
                    "sizeBytes": size + rng.choice((0, 0, 12_345_678)),
                }
                for image, tag, size in rng.sample(IMAGES, rng.randint(1, 4))
            ]
        if self.has("declared", 0.8):
            node["status"]["declaredFeatures"] = sorted(rng.sample((RESTARTS, USER_NAMESPACES, "Unheard"), rng.randint(0, 3)))
        return node

    def taint(self) -> Object:
        rng = self.rng
        taint = {
            "key": rng.choice(("example.com/team", "example.com/old")),
            "effect": rng.choice(("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule")),
        }
        if rng.random() < 0.7:
            taint["value"] = rng.choice(("x", "y"))
        return taint

    # --- pods ---------------------------------------------------------------------------------------------------------------------

    def pod(self, name: str, node: str = "") -> Object:
        rng = self.rng
        namespace = rng.choice(self.namespaces)
        labels = {"app": rng.choice(APPS)}
        if rng.random() < 0.5:
            labels["tier"] = rng.choice(("front", "back"))
        if "labelkeys" in self.features:
            labels["pod-template-hash"] = rng.choice(("aaa", "bbb"))
        spec: Object = {
            "schedulerName": SCHEDULER,
            "restartPolicy": "Always",
            "preemptionPolicy": "Never",
            "priority": 0,
            "containers": [self.container(f"c{index}") for index in range(rng.choice((1, 1, 1, 2, 3)))],
        }
        pod: Object = {
            "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}", "labels": labels},
            "spec": spec,
            "status": {},
        }
        if self.has("owners", 0.6):
            pod["metadata"]["ownerReferences"] = [self.owner(labels)]
        self.requirements(pod)
        self.placement(spec)
        self.neighbours(spec, labels)
        if self.features & DEVICES:
            self.device_requests(pod, node)
        if node:
            spec["nodeName"] = node
            if self.has("resized", 0.6):
                self.resize(pod)
            if self.has("terminating", 0.4):
                pod["metadata"] |= {"deletionTimestamp": "2026-11-30T00:00:00Z", "finalizers": ["example.com/wait"]}
            return pod
        if self.has("nominated", 0.3):
            pod["status"]["nominatedNodeName"] = rng.choice(self.node_names)
        if self.has("priority", 0.8):
            value, spec["priorityClassName"] = rng.choice(((-10, "low"), (100, "normal"), (10_000, "high")))
            spec["priority"] = value
        if self.has("gates", 0.15):
            spec["schedulingGates"] = [{"name": "example.com/later"}]
        if self.has("otherscheduler", 0.15):
            spec["schedulerName"] = "other-scheduler"
        return pod

    def resize(self, pod: Object) -> None:
        """What the node has given the pod so far, and whether it will give it what it asks for."""
        rng, status = self.rng, pod["status"]
        amounts = {"cpu": ("100m", "1", "4"), "memory": ("128Mi", "4Gi", "10Gi")}
        statuses = []
        for container in pod["spec"]["containers"]:
            entry: Object = {"name": container["name"]}
            names = rng.choice((("cpu",), ("memory",), ("cpu", "memory")))
            if rng.random() < 0.8:
                entry["allocatedResources"] = {name: rng.choice(amounts[name]) for name in names}
            if rng.random() < 0.8:
                entry["resources"] = {"requests": {name: rng.choice(amounts[name]) for name in names}}
            if rng.random() < 0.9:
                statuses.append(entry)
        status["containerStatuses"] = statuses
        if rng.random() < 0.4:
            status["conditions"] = [
                {"type": "PodResizePending", "status": "True", "reason": rng.choice(("Infeasible", "Deferred"))}
            ]

    def container(self, name: str) -> Object:
        rng = self.rng
        requests = {
            "cpu": rng.choice(("100m", "250m", "500m", "1", "1500m", "2", "3")),
            "memory": rng.choice(("64Mi", "256Mi", "1Gi", "1500M", "3Gi", "6Gi")),
        }
        container: Object = {"name": name, "image": "registry.test/one:v1", "resources": {"requests": requests}}
        if self.has("odd-requests", 0.5):
            match rng.randrange(5):
                case 0:
                    requests.clear()
                case 1:
                    requests[rng.choice(("cpu", "memory"))] = "0"
                case 2:
                    del requests[rng.choice(("cpu", "memory"))]
                case 3:
                    requests |= {
                        "cpu": rng.choice(("1m", "333m", "0.1", "1e-1")),
                        "memory": rng.choice(("1", "123456789", "128974848", "129e6", "123Mi")),
                    }
                case _:
                    container["resources"]["limits"] = {"cpu": "4", "memory": "6Gi"}
        if self.has("storage", 0.4):
            requests["ephemeral-storage"] = rng.choice(("1Gi", "6Gi", "50Gi"))
            if rng.random() < 0.4:
                requests["hugepages-2Mi"] = rng.choice(("2Mi", "64Mi", "512Mi"))
                container["resources"].setdefault("limits", {})["hugepages-2Mi"] = requests["hugepages-2Mi"]
        if self.asks("scalars", 0.4):
            requests[PLUGIN] = rng.choice(("1", "1", "2"))
            container["resources"].setdefault("limits", {})[PLUGIN] = requests[PLUGIN]
        if self.has("images"):
            container["image"] = rng.choice(
                (
                    "registry.test/one:v1",
                    "registry.test/two:v1",
                    "registry.test/three:v1",
                    "registry.test/four",
                    f"registry.test/two@sha256:{'0' * 64}",
                )
            )
        if self.asks("ports", 0.5):
            container["ports"] = [self.port() for _ in range(rng.choice((1, 1, 2)))]
        if self.asks("declared", 0.25):
            container["restartPolicyRules"] = [
                {"action": rng.choice(("RestartAllContainers", "Restart")), "exitCodes": {"operator": "In", "values": [42]}}
            ]
            container["restartPolicy"] = "Never"
        return container

    def port(self) -> Object:
        rng = self.rng
        port: Object = {"containerPort": rng.choice((80, 8080)), "protocol": rng.choice(("TCP", "TCP", "TCP", "UDP", "SCTP"))}
        if rng.random() < 0.8:
            port["hostPort"] = rng.choice((80, 8080))
        if rng.random() < 0.4:
            port["hostIP"] = rng.choice(("0.0.0.0", "10.0.0.1", "10.0.0.2", "::"))
        return port

    def requirements(self, pod: Object) -> None:
        """What the pod needs beside its containers."""
        rng, spec = self.rng, pod["spec"]
        if self.has("images", 0.3):
            spec["volumes"] = [
                {"name": "model", "image": {"reference": rng.choice(("registry.test/two:v1", "registry.test/three:v1"))}}
            ]
        if self.has("init", 0.6):
            spec["initContainers"] = []
            for index in range(rng.choice((1, 2, 3))):
                container = self.container(f"i{index}")
                container.pop("restartPolicyRules", None)
                container.pop("restartPolicy", None)
                if rng.random() < 0.5:
                    container["restartPolicy"] = "Always"
                spec["initContainers"].append(container)
        if self.has("overhead", 0.5):
            spec["overhead"] = {"cpu": rng.choice(("10m", "250m", "1")), "memory": rng.choice(("64Mi", "1Gi"))}
        if self.has("podlevel", 0.6):
            names = rng.choice((("cpu",), ("memory",), ("cpu", "memory")))
            values = {"cpu": rng.choice(("9", "12")), "memory": rng.choice(("18Gi", "20Gi"))}
            if rng.random() < 0.5:  # smaller than what the containers might ask for: they then ask for nothing
                values = {"cpu": rng.choice(("500m", "2", "3")), "memory": rng.choice(("512Mi", "3Gi"))}
                for container in (*spec["containers"], *spec.get("initContainers", ())):
                    for name in names:
                        container["resources"].get("requests", {}).pop(name, None)
                        container["resources"].get("limits", {}).pop(name, None)
            spec["resources"] = {"requests": {name: values[name] for name in names}}
        if self.asks("declared", 0.2):
            spec |= {"hostNetwork": True, "hostUsers": False}
            for container in (*spec["containers"], *spec.get("initContainers", ())):
                for port in container.get("ports", ()):
                    port["hostPort"] = port["containerPort"]
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            seen: set[tuple[Any, ...]] = set()
            ports = []
            for port in container.get("ports", ()):
                identity = (port.get("hostPort"), port["protocol"], port.get("hostIP"))
                if identity not in seen:
                    seen.add(identity)
                    ports.append(port)
            if ports:
                container["ports"] = ports

    def placement(self, spec: Object) -> None:
        """Which nodes the pod wants."""
        rng = self.rng
        if self.asks("selector", 0.5):
            spec["nodeSelector"] = rng.choice(
                (
                    {"disk": "ssd"},
                    {"disk": "hdd"},
                    {"example.com/gpu": "true"},
                    {"disk": "ssd", "example.com/gpu": "true"},
                    {ZONE: "z0"},
                )
            )
        node_affinity: Object = {}
        if self.asks("affinity", 0.6):
            node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [{"matchExpressions": self.expressions()} for _ in range(rng.choice((1, 1, 2)))]
            }
        if self.asks("fields", 0.5):
            terms = node_affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": [{}]})[
                "nodeSelectorTerms"
            ]
            name = rng.choice(self.node_names)
            for term in terms:
                term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": [name]}]
            if rng.random() < 0.4:
                rng.choice(terms)["matchFields"][0]["operator"] = "NotIn"
            if rng.random() < 0.1:
                terms[0]["matchFields"][0]["values"] = ["nowhere"]
        if self.has("preferred", 0.7):
            node_affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": rng.choice((1, 5, 30, 100)), "preference": {"matchExpressions": self.expressions()}}
                for _ in range(rng.choice((1, 2, 3)))
            ]
        if node_affinity:
            spec.setdefault("affinity", {})["nodeAffinity"] = node_affinity
        if self.has("taints", 0.6) or self.has("unschedulable", 0.2):
            spec["tolerations"] = [self.toleration() for _ in range(rng.choice((1, 1, 2)))]

    def expressions(self) -> list[Object]:
        rng = self.rng
        choices: list[Object] = [
            {"key": "disk", "operator": "In", "values": ["ssd"]},
            {"key": "disk", "operator": "NotIn", "values": ["ssd"]},
            {"key": "disk", "operator": "In", "values": ["ssd", "hdd"]},
            {"key": "example.com/gpu", "operator": "Exists"},
            {"key": "example.com/gpu", "operator": "DoesNotExist"},
            {"key": "rack", "operator": "Gt", "values": [str(rng.randint(0, 6))]},
            {"key": "rack", "operator": "Lt", "values": [str(rng.randint(3, 9))]},
            {"key": ZONE, "operator": "In", "values": rng.sample(("z0", "z1", "z2"), 2)},
            {"key": ZONE, "operator": "NotIn", "values": ["z1"]},
            {"key": "absent", "operator": "NotIn", "values": ["x"]},
        ]
        return rng.sample(choices, rng.choice((0, 1, 1, 1, 1, 1, 1, 2, 2, 2)))

    def toleration(self) -> Object:
        rng = self.rng
        toleration: Object = {"operator": rng.choice(("Exists", "Equal"))}
        if toleration["operator"] == "Equal" or rng.random() < 0.8:
            toleration["key"] = rng.choice(("example.com/team", "example.com/old", "node.kubernetes.io/unschedulable"))
        if toleration["operator"] == "Equal" and rng.random() < 0.8:
            toleration["value"] = rng.choice(("x", "y"))
        if toleration["operator"] == "Equal" and rng.random() < 0.1:
            del toleration["operator"]
        if rng.random() < 0.6:
            toleration["effect"] = rng.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
        return toleration

    def neighbours(self, spec: Object, labels: dict[str, str]) -> None:
        """Where the pod wants to be, given where others are."""
        rng = self.rng
        affinity: Object = spec.get("affinity", {})
        if self.asks("podaffinity", 0.4):
            affinity.setdefault("podAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = [
                self.term(labels) for _ in range(rng.choice((1, 1, 2)))
            ]
        if self.asks("antiaffinity", 0.4):
            affinity.setdefault("podAntiAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = [
                self.term(labels) for _ in range(rng.choice((1, 1, 2)))
            ]
        if self.has("podpreferred", 0.6):
            for kind in rng.sample(("podAffinity", "podAntiAffinity"), rng.choice((1, 1, 2))):
                affinity.setdefault(kind, {})["preferredDuringSchedulingIgnoredDuringExecution"] = [
                    {"weight": rng.choice((1, 10, 50, 100)), "podAffinityTerm": self.term(labels)}
                    for _ in range(rng.choice((1, 1, 2)))
                ]
        if affinity:
            spec["affinity"] = affinity
        constraints = []
        if self.asks("spread", 0.6):
            constraints += [self.spread(labels, "DoNotSchedule") for _ in range(rng.choice((1, 1, 2)))]
        if self.has("softspread", 0.6):
            constraints += [self.spread(labels, "ScheduleAnyway") for _ in range(rng.choice((1, 1, 2)))]
        if constraints:
            # One per topology key and effect, as the API server demands.
            distinct = {(entry["topologyKey"], entry["whenUnsatisfiable"]): entry for entry in constraints}
            spec["topologySpreadConstraints"] = list(distinct.values())

    def topology_key(self) -> str:
        return self.rng.choice(
            (HOSTNAME, ZONE, ZONE, "disk", "rack") if self.zone_names else (HOSTNAME, HOSTNAME, "disk", "rack", ZONE)
        )

    def label_selector(self, labels: dict[str, str]) -> Object:
        rng = self.rng
        return rng.choice(
            (
                {"matchLabels": {"app": labels["app"]}},
                {"matchLabels": {"app": labels["app"]}},
                {"matchLabels": {"app": rng.choice(APPS)}},
                {"matchExpressions": [{"key": "app", "operator": "In", "values": rng.sample(APPS, 2)}]},
                {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
                {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["front"]}]},
                {"matchLabels": {"app": labels["app"]}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
                {},
            )
        )

    def term(self, labels: dict[str, str]) -> Object:
        rng = self.rng
        term: Object = {"topologyKey": self.topology_key(), "labelSelector": self.label_selector(labels)}
        if rng.random() < 0.05:
            return {"topologyKey": term["topologyKey"]}  # selects nothing
        if self.has("namespaces", 0.6):
            match rng.randrange(4):
                case 0:
                    term["namespaces"] = rng.sample(self.namespaces, rng.choice((1, 2)))
                case 1:
                    term["namespaceSelector"] = {}
                case 2:
                    term["namespaceSelector"] = {"matchLabels": rng.choice(({"team": "x"}, {"env": "prod"}))}
                case _:
                    term["namespaces"] = [rng.choice(self.namespaces)]
                    term["namespaceSelector"] = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
        if self.has("labelkeys", 0.5):
            if rng.random() < 0.7:
                term["matchLabelKeys"] = ["pod-template-hash", *rng.sample(("absent",), rng.choice((0, 1)))]
                _merge(term["labelSelector"], term["matchLabelKeys"], "In", labels)
            else:
                term["mismatchLabelKeys"] = ["pod-template-hash"]
                _merge(term["labelSelector"], term["mismatchLabelKeys"], "NotIn", labels)
        return term

    def spread(self, labels: dict[str, str], action: str) -> Object:
        rng = self.rng
        constraint: Object = {
            "maxSkew": rng.choice((1, 1, 2, 3)),
            "topologyKey": self.topology_key(),
            "whenUnsatisfiable": action,
            "labelSelector": self.label_selector(labels),
        }
        if rng.random() < 0.05:
            del constraint["labelSelector"]  # counts nothing
            return constraint
        if action == "DoNotSchedule" and rng.random() < 0.25:
            constraint["minDomains"] = rng.choice((1, 2, 3, 5))
        if rng.random() < 0.3:
            constraint["nodeAffinityPolicy"] = rng.choice(("Honor", "Ignore"))
        if rng.random() < 0.3:
            constraint["nodeTaintsPolicy"] = rng.choice(("Honor", "Ignore"))
        if self.has("labelkeys", 0.5):
            constraint["matchLabelKeys"] = ["pod-template-hash"]
            _merge(constraint["labelSelector"], constraint["matchLabelKeys"], "In", labels)
        return constraint

    def owners(self) -> Problem:
        """What selects pods: without constraints of its own a pod is spread over what selects it."""
        rng = self.rng
        selectors = ({"app": "web"}, {"app": "db"}, {"tier": "front"}, {"app": "job", "tier": "back"})
        services = [
            {"metadata": {"name": f"service-{index}", "namespace": rng.choice(self.namespaces)}, "spec": {"selector": selector}}
            for index, selector in enumerate(rng.sample(selectors, rng.choice((0, 1, 2, 3))))
        ]
        problem: Problem = {"services": services}
        for key, kind in OWNERS.items():
            problem[key] = [
                {
                    "metadata": {"name": f"{kind.lower()}-{app}", "namespace": namespace},
                    "spec": {"selector": {"app": app} if kind == "ReplicationController" else {"matchLabels": {"app": app}}},
                }
                for namespace in self.namespaces
                for app in APPS
                if rng.random() < 0.8
            ]
        return problem

    def owner(self, labels: dict[str, str]) -> Object:
        kind = self.rng.choice(tuple(OWNERS.values()))
        name = f"{kind.lower()}-{labels['app']}"
        version = "v1" if kind == "ReplicationController" else "apps/v1"
        return {"apiVersion": version, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}

    # --- what drivers publish -----------------------------------------------------------------------------------------------------

    def slices(self, nodes: list[Object]) -> list[Object]:
        rng = self.rng
        slices: list[Object] = []
        devices = self.features & DEVICES
        share = 0.3 if self.large else 0.75
        for node in nodes:
            name = node["metadata"]["name"]
            if rng.random() < share:
                slices += self.plain_pool(name)
            if "counters" in devices and rng.random() < 0.3:
                slices += self.partitioned_pool(name)
            if "capacity" in devices and rng.random() < share:
                slices += self.divisible_pool(name)
        if "network" in devices:
            slices += self.network_pools()
        return slices

    def publish(self, driver: str, pool: str, where: Object, parts: list[Object]) -> list[Object]:
        """The slices of one pool; each part holds devices or counters."""
        node = where.get("nodeName", "")
        slices = []
        for index, part in enumerate(parts):
            self.devices += [(driver, pool, device["name"], node) for device in part.get("devices", ())]
            spec = {"driver": driver, "pool": {"name": pool, "generation": 1, "resourceSliceCount": len(parts)}} | where | part
            slices.append({"metadata": {"name": f"{pool}-{driver.split('.')[0]}-{index}"}, "spec": spec})
        return slices

    def plain_pool(self, node: str) -> list[Object]:
        rng = self.rng
        devices = []
        for index in range(rng.choice((1, 2, 2, 3, 4))):
            device: Object = {
                "name": f"gpu-{index}",
                "attributes": {
                    "model": {"string": rng.choice(("a100", "h100", "l4"))},
                    "numa": {"int": rng.choice((0, 1))},
                    "driverVersion": {"version": rng.choice(("1.2.0", "2.0.0"))},
                    "resource.kubernetes.io/pcieRoot": {"string": rng.choice(("pci0000:00", "pci0000:80"))},
                },
                "capacity": {"memory": {"value": rng.choice(("24Gi", "40Gi", "80Gi"))}},
            }
            if self.has("celerrors", 0.1):
                del device["attributes"]["model"]
            if self.has("devicetaints", 0.35):
                device["taints"] = [self.device_taint()]
            devices.append(device)
        cut = rng.randint(1, len(devices))
        parts = (
            [{"devices": devices[:cut]}, {"devices": devices[cut:]}]
            if cut < len(devices) and rng.random() < 0.4
            else [{"devices": devices}]
        )
        slices = self.publish(GPU, node, {"nodeName": node}, parts)
        if self.has("broken", 0.35):
            self.break_pool(slices)
        return slices

    def break_pool(self, slices: list[Object]) -> None:
        """What readers see while a driver publishes anew. All slices of a generation still agree about their number."""
        rng = self.rng
        match rng.randrange(4):
            case 0:  # one more is to come
                for entry in slices:
                    entry["spec"]["pool"]["resourceSliceCount"] += 1
            case 1:  # left from before
                old = json.loads(json.dumps(slices[0]))
                old["metadata"]["name"] += "-old"
                old["spec"]["pool"] |= {"generation": 0, "resourceSliceCount": 1}
                old["spec"]["devices"] = [device | {"name": f"old-{device['name']}"} for device in old["spec"]["devices"]]
                slices.append(old)
            case 2:  # the newer generation is not there yet, or only in part
                new = json.loads(json.dumps(slices[0]))
                new["metadata"]["name"] += "-new"
                new["spec"]["pool"] |= {"generation": 2, "resourceSliceCount": rng.choice((1, 2))}
                slices.append(new)
            case _:  # a device twice
                slices[-1]["spec"]["devices"].append(json.loads(json.dumps(slices[0]["spec"]["devices"][0])))

    def partitioned_pool(self, node: str) -> list[Object]:
        """Like MIG: whole devices and their parts draw from the same counters."""
        rng = self.rng
        sets, devices = [], []
        for index in range(rng.choice((1, 1, 2))):
            slots = {f"slot-{slot}": {"value": "1"} for slot in range(4)}
            sets.append({"name": f"parent-{index}", "counters": {"memory": {"value": "40Gi"}} | slots})
            shapes = [
                ("whole", 4, 0, "40Gi"),
                ("half", 2, 0, "20Gi"),
                ("half", 2, 2, "20Gi"),
                *(("quarter", 1, slot, "10Gi") for slot in range(4)),
            ]
            for profile, width, start, memory in shapes:
                if profile == "quarter" and rng.random() < 0.3:
                    continue
                counters = {"memory": {"value": memory}} | {f"slot-{slot}": {"value": "1"} for slot in range(start, start + width)}
                devices.append(
                    {
                        "name": f"mig-{index}-{profile}-{start}",
                        "attributes": {"profile": {"string": profile}, "parent": {"string": f"parent-{index}"}},
                        "capacity": {"memory": {"value": memory}},
                        "consumesCounters": [{"counterSet": f"parent-{index}", "counters": counters}],
                    }
                )
        return self.publish(MIG, f"{node}-mig", {"nodeName": node}, [{"sharedCounters": sets}, {"devices": devices}])

    def divisible_pool(self, node: str) -> list[Object]:
        rng = self.rng
        devices = []
        for index in range(rng.choice((1, 2))):
            policy = rng.choice(
                (
                    {"default": "8Gi", "validRange": {"min": "4Gi", "step": "4Gi"}},
                    {"default": "10Gi", "validValues": ["10Gi", "20Gi", "40Gi"]},
                    {"default": "4Gi"},
                )
            )
            devices.append(
                {
                    "name": f"vgpu-{index}",
                    "allowMultipleAllocations": True,
                    "attributes": {"model": {"string": rng.choice(("a100", "h100"))}},
                    "capacity": {"memory": {"value": "40Gi", "requestPolicy": policy}, "slots": {"value": "4"}},
                }
            )
        return self.publish(VGPU, f"{node}-vgpu", {"nodeName": node}, [{"devices": devices}])

    def network_pools(self) -> list[Object]:
        rng = self.rng
        slices: list[Object] = []
        for index in range(rng.choice((1, 2, 3))):
            devices: list[Object] = [
                {"name": f"net-{number}", "attributes": {"speed": {"int": rng.choice((10, 100))}}}
                for number in range(rng.choice((1, 2, 4, 8)))
            ]
            where: Object = rng.choice(
                (
                    {"allNodes": True},
                    {
                        "nodeSelector": {
                            "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
                        }
                    },
                    {
                        "nodeSelector": {
                            "nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z0"]}]}]
                        }
                    },
                    {
                        "nodeSelector": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "rack", "operator": "Gt", "values": ["2"]},
                                        {"key": "example.com/gpu", "operator": "DoesNotExist"},
                                    ]
                                }
                            ]
                        }
                    },
                    {"perDeviceNodeSelection": True},
                )
            )
            for device in devices:
                if rng.random() < 0.2:
                    device["bindsToNode"] = True
            if "perDeviceNodeSelection" in where:
                for device in devices:
                    device |= rng.choice(
                        (
                            {"nodeName": rng.choice(self.node_names)},
                            {"allNodes": True},
                            {
                                "nodeSelector": {
                                    "nodeSelectorTerms": [
                                        {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["hdd"]}]}
                                    ]
                                }
                            },
                        )
                    )
            slices += self.publish(NET, f"net-{index}", where, [{"devices": devices}])
        return slices

    def device_taint(self) -> Object:
        rng = self.rng
        taint = {
            "key": "example.com/sick",
            "effect": rng.choice(("NoSchedule", "NoSchedule", "NoExecute", "None")),
            "timeAdded": "2026-11-30T00:00:00Z",
        }
        if rng.random() < 0.5:
            taint["value"] = rng.choice(("x", "y"))
        return taint

    def taint_rule(self, name: str) -> Object:
        rng = self.rng
        driver, pool, device, _ = rng.choice(self.devices or [(GPU, "p", "d", "")])
        selector: Object = rng.choice(
            (
                {},
                {"driver": driver, "pool": pool},
                {"driver": driver, "pool": pool, "device": device},
                {"driver": driver, "pool": pool},
                {"device": "gpu-0"},
                {"pool": pool},
            )
        )
        return {"metadata": {"name": name}, "spec": {"deviceSelector": selector, "taint": self.device_taint()}}

    # --- what users ask for -------------------------------------------------------------------------------------------------------

    def device_classes(self) -> list[Object]:
        rng = self.rng
        classes: list[Object] = []
        for driver in (GPU, MIG, VGPU, NET):
            spec: Object = {"selectors": [_cel(f'device.driver == "{driver}"')]}
            if self.has("config", 0.5):
                spec["config"] = [{"opaque": {"driver": driver, "parameters": {"from": "class"}}}]
            classes.append({"metadata": {"name": driver}, "spec": spec})
        big = {"selectors": [_cel(f'device.driver == "{GPU}" && device.capacity["{GPU}"].memory.isGreaterThan(quantity("30Gi"))')]}
        classes.append({"metadata": {"name": "big"}, "spec": big})
        if self.has("extended"):
            classes[0]["spec"]["extendedResourceName"] = EXTENDED
            # Several classes for one name (the newest counts), several names, one that some nodes serve by device plugin.
            if (second := rng.choice((EXTENDED, EXTENDED, SECOND, SECOND, PLUGIN, ""))) != "":
                classes[-1]["spec"]["extendedResourceName"] = second
        for number, entry in enumerate(classes):
            entry["metadata"]["creationTimestamp"] = f"2026-11-{rng.choice((10, 10, 11 + number)):02d}T00:00:00Z"
        self.classes = {entry["metadata"]["name"]: entry for entry in classes}
        return classes

    def ask(self, sub: bool) -> Object:
        rng = self.rng
        drivers = [GPU, GPU, "big"]
        drivers += [MIG] * 3 if "counters" in self.features else []
        drivers += [VGPU] * 3 if "capacity" in self.features else []
        drivers += [NET] * 2 if "network" in self.features else []
        name = rng.choice(drivers)
        ask: Object = {"deviceClassName": name, "allocationMode": "ExactCount", "count": rng.choice((1, 1, 1, 1, 1, 2))}
        driver = GPU if name == "big" else name
        selectors = []
        if driver == GPU and rng.random() < 0.35:
            selectors.append(
                rng.choice(
                    (
                        f'device.attributes["{GPU}"].model == "{rng.choice(("a100", "h100", "l4"))}"',
                        f'device.capacity["{GPU}"].memory.compareTo(quantity("40Gi")) >= 0',
                        f'device.attributes["{GPU}"].numa == 0',
                        f'device.attributes["{GPU}"].driverVersion.isGreaterThan(semver("1.5.0"))',
                    )
                )
            )
        if driver == MIG:
            ask["count"] = rng.choice((1, 1, 2, 3))
            selectors.append(f'device.attributes["{MIG}"].profile == "{rng.choice(("whole", "half", "quarter", "quarter"))}"')
        if driver == VGPU:
            ask["capacity"] = {
                "requests": {"memory": rng.choice(("4Gi", "6Gi", "10Gi", "16Gi", "20Gi"))}
                | ({"slots": "1"} if rng.random() < 0.5 else {})
            }
            ask["count"] = 1
        if driver == NET and rng.random() < 0.5:
            selectors.append(f'device.attributes["{NET}"].speed >= 100')
        if self.has("celerrors", 0.08):
            selectors.append(f'device.attributes["{driver}"].absent == 1')
        if selectors:
            ask["selectors"] = [_cel(text) for text in selectors]
        if self.has("noclass", 0.1):
            ask["deviceClassName"] = "absent"
        if self.asks("all", 0.3) and not sub:
            ask["allocationMode"] = "All"
            del ask["count"]
        if (self.has("devicetaints") or self.has("taintrules")) and rng.random() < 0.5:
            ask["tolerations"] = [
                rng.choice(
                    (
                        {"operator": "Exists"},
                        {"key": "example.com/sick", "operator": "Exists", "effect": "NoSchedule"},
                        {"key": "example.com/sick", "operator": "Equal", "value": "x"},
                    )
                )
            ]
        if self.asks("admin", 0.3) and not sub:
            ask["adminAccess"] = True
        return ask

    def claim_spec(self) -> Object:
        rng = self.rng
        requests: list[Object] = []
        for index in range(rng.choice((1, 1, 1, 2))):
            if self.has("alternatives", 0.6):
                requests.append(
                    {
                        "name": f"r{index}",
                        "firstAvailable": [{"name": f"s{number}"} | self.ask(sub=True) for number in range(rng.choice((2, 2, 3)))],
                    }
                )
            else:
                requests.append({"name": f"r{index}", "exactly": self.ask(sub=False)})
        spec: Object = {"requests": requests}
        if self.asks("constraints", 0.6):
            attribute = rng.choice((f"{GPU}/model", f"{GPU}/numa", "resource.kubernetes.io/pcieRoot", f"{MIG}/parent"))
            constraint: Object = {rng.choice(("matchAttribute", "matchAttribute", "distinctAttribute")): attribute}
            if rng.random() < 0.3:
                constraint["requests"] = ["r0"]
            spec["constraints"] = [constraint]
        if self.has("config", 0.5):
            spec["config"] = [{"opaque": {"driver": GPU, "parameters": {"from": "claim"}}}]
            if rng.random() < 0.5:
                spec["config"][0]["requests"] = [requests[-1]["name"]]
        return {"devices": spec}

    def shared_claim(self, name: str) -> Object:
        rng = self.rng
        claim: Object = {
            "metadata": {"name": name, "namespace": rng.choice(self.namespaces), "uid": f"uid-{name}"},
            "spec": self.claim_spec(),
            "status": {},
        }
        if (self.has("allocated", 0.7) or self.has("reserved", 0.7) or self.has("binding", 0.8)) and self.allocate(claim):
            if self.has("binding", 0.7):
                self.bind_device(claim)
            if self.has("reserved", 0.6):
                consumers = [{"resource": "pods", "name": name, "uid": f"uid-{name}"} for name in ("elsewhere", "too")]
                claim["status"]["reservedFor"] = consumers[: rng.choice((1, 1, 2))]
            else:
                self.held.add(name)
        if self.has("deleted", 0.4):
            claim["metadata"] |= {
                "deletionTimestamp": "2026-11-30T00:00:00Z",
                "finalizers": ["resource.kubernetes.io/delete-protection"],
            }
        self.claims.append(claim)
        return claim

    def allocate(self, claim: Object, on: str = "") -> bool:
        """Gives the claim a device as an earlier attempt might have, whether or not it is what the claim asks for."""
        free = [
            entry for entry in self.devices if entry[:3] not in self.taken and entry[0] != MIG and (not on or entry[3] in (on, ""))
        ]
        if not free:
            return False
        driver, pool, device, node = self.rng.choice(free)
        request = claim["spec"]["devices"]["requests"][0]
        reference = request["name"] if "exactly" in request else f"{request['name']}/{request['firstAvailable'][0]['name']}"
        result: Object = {"request": reference, "driver": driver, "pool": pool, "device": device}
        if driver == VGPU:
            self.shares += 1
            result |= {"shareID": f"00000000-0000-4000-8000-{self.shares:012d}", "consumedCapacity": {"memory": "8Gi"}}
        else:
            self.taken.add((driver, pool, device))
        allocation: Object = {"devices": {"results": [result]}}
        if node:
            term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
            allocation["nodeSelector"] = {"nodeSelectorTerms": [term]}
        claim["status"] = {"allocation": allocation}
        return True

    def bind_device(self, claim: Object) -> None:
        """Says that the claim's device is ready, or failed to become so. One that is still waited for would depend on time."""
        result = claim["status"]["allocation"]["devices"]["results"][0]
        result |= {"bindingConditions": ["example.com/ready"], "bindingFailureConditions": ["example.com/failed"]}
        identity = {key: result[key] for key in ("driver", "pool", "device", "shareID") if key in result}
        claim["status"]["devices"] = [
            identity
            | {
                "conditions": [
                    {"type": name, "status": status, "reason": "Test", "message": "", "lastTransitionTime": "2026-11-30T00:00:00Z"}
                    for name, status in (("example.com/ready", "True"), ("example.com/failed", self.rng.choice(("False", "True"))))
                ]
            }
        ]

    def device_requests(self, pod: Object, node: str) -> None:
        rng = self.rng
        metadata, spec = pod["metadata"], pod["spec"]
        if node:
            self.devices_in_use(pod, node)
            return
        held = False
        if self.features & NEED_CLAIMS and rng.random() < (0.75 if not self.crowd else 0.5):
            entries, statuses = [], []
            for index in range(rng.choice((1, 1, 1, 2))):
                usable = [
                    claim
                    for claim in self.shared
                    if claim["metadata"]["namespace"] == metadata["namespace"]
                    and not (held and claim["metadata"]["name"] in self.held)
                ]
                if usable and rng.random() < 0.6:
                    claim = rng.choice(usable)
                    held |= claim["metadata"]["name"] in self.held
                    if claim["metadata"]["name"] not in [entry.get("resourceClaimName") for entry in entries]:
                        entries.append({"name": f"claim-{index}", "resourceClaimName": claim["metadata"]["name"]})
                    continue
                entries.append({"name": f"claim-{index}", "resourceClaimTemplateName": "template"})
                status: Object = {"name": f"claim-{index}"}
                if not self.has("lost", 0.1):  # no name: the controller found that no claim is needed
                    status["resourceClaimName"] = f"{metadata['name']}-claim-{index}-x"
                    self.template_claim(pod, f"claim-{index}", status["resourceClaimName"])
                statuses.append(status)
            if entries:
                spec["resourceClaims"] = entries
                for entry in entries:
                    rng.choice(spec["containers"])["resources"].setdefault("claims", []).append({"name": entry["name"]})
            if statuses:
                pod["status"]["resourceClaimStatuses"] = statuses
            if entries and not (self.crowd or self.features & {"extended", "implicit", "plugin"}):
                return
            if entries and rng.random() < 0.7:
                return
        names = [EXTENDED] if self.features & {"extended", "plugin"} else []
        names += [SECOND] if "extended" in self.features else []
        names += [IMPLICIT + GPU, IMPLICIT + "big"] if "implicit" in self.features else []
        names += [IMPLICIT + driver for driver, feature in EXOTIC if {"implicit", feature} <= self.features]
        if names and rng.random() < 0.7:
            for container in (*spec["containers"], *spec.get("initContainers", ())):
                if rng.random() < 0.6:
                    for name in rng.sample(names, rng.choice((1, 1, 1, min(2, len(names)), min(3, len(names))))):
                        for field in ("requests", "limits"):
                            container["resources"].setdefault(field, {})[name] = "1"
                        if rng.random() < 0.3:
                            for field in ("requests", "limits"):
                                container["resources"][field][name] = rng.choice(("2", "2", "0"))
            if self.has("stale", 0.15):
                claim = self.invented_claim(pod, f"{pod['metadata']['name']}-stale")
                if rng.random() < 0.5:
                    self.allocate(claim)

    def invented_claim(self, pod: Object, name: str) -> Object:
        """A claim that the scheduler made for the pod's extended resources."""
        ask = {"deviceClassName": GPU, "allocationMode": "ExactCount", "count": 1}
        claim: Object = {
            "metadata": {
                "name": name,
                "namespace": pod["metadata"]["namespace"],
                "uid": f"uid-{name}",
                "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
                "ownerReferences": [_owner(pod)],
            },
            "spec": {"devices": {"requests": [{"name": "container-0-request-0", "exactly": ask}]}},
            "status": {},
        }
        self.claims.append(claim)
        return claim

    def devices_in_use(self, pod: Object, node: str) -> None:
        """What a pod that runs holds: devices of its claim, or what the node's device plugin gave it."""
        metadata, spec = pod["metadata"], pod["spec"]
        if self.has("plugin", 0.4):
            for field in ("requests", "limits"):
                spec["containers"][0]["resources"].setdefault(field, {})[EXTENDED] = "1"
        elif self.has("extended", 0.5):
            for field in ("requests", "limits"):
                spec["containers"][0]["resources"].setdefault(field, {})[EXTENDED] = "1"
            name = f"{metadata['name']}-extended-resources-0"
            claim = self.invented_claim(pod, name)
            if self.allocate(claim, node):
                claim["status"]["reservedFor"] = [{"resource": "pods", "name": metadata["name"], "uid": metadata["uid"]}]
                mapping = {"containerName": "c0", "resourceName": EXTENDED, "requestName": "container-0-request-0"}
                pod["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": name, "requestMappings": [mapping]}
        elif self.features & NEED_CLAIMS and self.rng.random() < 0.6:
            name = f"{metadata['name']}-claim-x"
            self.template_claim(pod, "claim", name)
            claim = next((entry for entry in self.claims if entry["metadata"]["name"] == name), None)
            if claim is not None and self.allocate(claim, node):
                claim["status"]["reservedFor"] = [{"resource": "pods", "name": metadata["name"], "uid": metadata["uid"]}]
                spec["resourceClaims"] = [{"name": "claim", "resourceClaimTemplateName": "template"}]
                pod["status"]["resourceClaimStatuses"] = [{"name": "claim", "resourceClaimName": name}]
            elif claim is not None:
                self.claims.remove(claim)

    def template_claim(self, pod: Object, entry: str, name: str) -> None:
        metadata, owner = pod["metadata"], _owner(pod)
        if self.has("lost", 0.1):
            return
        if self.has("lost", 0.1):
            owner["uid"] = "uid-another"
        self.claims.append(
            {
                "metadata": {
                    "name": name,
                    "namespace": metadata["namespace"],
                    "uid": f"uid-{name}",
                    "annotations": {"resource.kubernetes.io/pod-claim-name": entry},
                    "ownerReferences": [owner],
                },
                "spec": self.claim_spec(),
                "status": {},
            }
        )


TOGETHER = (
    ("extended", "plugin", "init"),
    ("extended", "implicit", "plugin", "claims"),
    ("implicit", "init", "shared", "bound"),
    ("extended", "podlevel", "overhead", "odd-requests"),
    ("spread", "affinity", "taints", "zones"),
    ("spread", "softspread", "labelkeys", "zones", "bound"),
    ("softspread", "owners", "zones", "preferred", "terminating"),
    ("podaffinity", "antiaffinity", "namespaces", "bound"),
    ("podpreferred", "podaffinity", "namespaces", "labelkeys", "zones"),
    ("counters", "capacity", "alternatives"),
    ("counters", "taintrules", "devicetaints", "constraints", "broken"),
    ("shared", "allocated", "reserved", "binding", "network"),
    ("shared", "network", "constraints", "all", "config"),
    ("alternatives", "preferred", "images", "taints"),
    ("shapes", "init", "overhead", "podlevel", "storage", "scalars", "bound"),
    ("ports", "priority", "antiaffinity", "shapes"),
    ("fields", "affinity", "selector", "unschedulable", "taints"),
    ("nominated", "implicit", "counters", "shapes"),
    ("nominated", "shared", "allocated", "priority"),
    ("stale", "extended", "fields", "nominated"),
)
"""Features whose rules meet in the scheduler's code."""

COMPANIONS = {
    "namespaces": ("podaffinity", "podpreferred"),
    "labelkeys": ("antiaffinity", "spread"),
    "terminating": ("spread", "podaffinity"),
    "plugin": ("extended",),
    "percentage": ("selector",),
    "taintrules": ("claims",),
    "stale": ("extended",),
}
"""Without these a feature alone shows nothing."""


def make(seed: int | str, number: int, features: Iterable[str] | None = None, large: bool = False) -> Problem:
    """Cluster `number` of a seed; `features` restricts what it may be about.

    In turn: features alone, in pairs, some that belong together, some at random, all. `large` ones have 120 to 300 nodes, so that
    the scheduler looks at some of them only.
    """
    rng = random.Random(f"{seed}/{number}/{large}")
    pool = [feature for feature in FEATURES if features is None or feature in set(features)]
    shuffled = random.Random(f"{seed}").sample(pool, len(pool))  # a short run meets other ones with every seed
    pairs = list(combinations(shuffled, 2))
    turn = number // 8
    together = [group for group in TOGETHER if set(group) <= set(pool)]
    match number % 8:
        case 0 | 1 if not large:
            alone = shuffled[(turn * 2 + number % 8) % len(shuffled)]
            chosen: Iterable[str] = {alone, *COMPANIONS.get(alone, ())}
        case 2 if pairs and not large:
            chosen = random.Random(f"{seed}/{number}").choice(pairs)
        case 3 if together:
            chosen = together[turn % len(together)]
        case 4 | 5 | 6 if len(pool) > 3:
            chosen = rng.sample(pool, rng.randint(3, min(8, len(pool))))
        case _:
            chosen = [
                feature
                for feature in pool
                if features is not None
                or rng.random() < (0.4 if large and feature == "percentage" else 0.1 if feature in RARE else 0.8)
            ]
    chosen = sorted(chosen)
    return {"id": f"{seed}/{number}{'/large' if large else ''} {' '.join(chosen) if len(chosen) < 9 else 'many'}"} | Maker(
        rng, chosen, large
    ).problem()


def _merge(selector: Object, keys: Iterable[str], operator: str, labels: dict[str, str]) -> None:
    """What the API server makes of matchLabelKeys and mismatchLabelKeys when the pod is created."""
    for key in keys:
        if key in labels:
            selector.setdefault("matchExpressions", []).append({"key": key, "operator": operator, "values": [labels[key]]})


def _uses(pod: Object, claim: Object) -> bool:
    names = [entry.get("resourceClaimName") for entry in pod["spec"].get("resourceClaims", ())]
    return pod["metadata"]["namespace"] == claim["metadata"]["namespace"] and claim["metadata"]["name"] in names


def _owner(pod: Object) -> Object:
    metadata = pod["metadata"]
    return {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}


def _cel(expression: str) -> Object:
    return {"cel": {"expression": expression}}
