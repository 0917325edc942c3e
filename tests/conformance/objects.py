"""Random objects of resource.k8s.io for the object conformance test: valid ones of every kind and version, and broken ones made
of them.

An object is first built to be valid and to use many features, then hurt in zero to four places: fields removed, renamed, emptied,
given another type, another number, another name, lists repeated or grown past their limits. Updates take a valid object as the
old one and hurt the new. Everything follows from the seed.
"""

import copy
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import Any

GROUP = "resource.k8s.io"
Json = Any

# Every gate set is judged by a process of its own: the oracle keeps gates for the rest of its life.
GATE_SETS: tuple[dict[str, bool], ...] = (
    {},
    {
        "DRAListTypeAttributes": True,
        "DRADeviceCompatibilityGroups": True,
        "DRAOptionalNodeOperations": True,
        "DRADerivedAttributes": True,
        "DRANodeAllocatableResources": True,
        "DRAResourcePoolStatus": True,
        "DRAPartitionableDevicesType": True,
        "DRAFractionalCapacityRange": True,
    },
    {"DRAConsumableCapacity": False, "DRAPartitionableDevicesType": False},
)

KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ResourceSlice", ("v1", "v1beta2", "v1beta1")),
    ("ResourceClaim", ("v1", "v1beta2", "v1beta1")),
    ("ResourceClaimTemplate", ("v1", "v1beta2", "v1beta1")),
    ("DeviceClass", ("v1", "v1beta2", "v1beta1")),
    ("DeviceTaintRule", ("v1", "v1beta2", "v1alpha3")),
)

NAMES = (
    "", "gpu", "GPU", "a.b", "-a", "a-", "x_y", "1a", "é", "a" * 63, "a" * 64, "a/b", "a/b/c", "/x", "x/", "example.com/x",
    "Example.com", "example.com/" + "n" * 33, "d" * 64 + "/x", "p." * 126 + "pp", "a b", "numa", "gpu.example.com/numa", "req/sub",
    "cpu", "hugepages-2Mi", "*", "None", "NoSchedule", "Exists", "All", "ExactCount", "kubernetes.io/x", "requests.example.com/x",
)  # fmt: skip
QUANTITIES: tuple[Json, ...] = (
    "0", "1", "2", "3", "5", "10", "80Gi", "1024Mi", "500m", "0.5", "1e3", "-1", "-1Gi", "1.5Gi", "9223372036854775807",
    "9223372036854775808", "10Ei", "100n", "1500u", 4, 0.25, "", "Gi", "1Gb", "1 Gi", " 7 ", None, True, {}, "+2", "007", "1E2",
    "1.10",
)  # fmt: skip
TIMES: tuple[Json, ...] = (
    "2024-01-02T03:04:05Z", "2024-01-02T03:04:05.678+02:00", "2024-02-30T00:00:00Z", "2024-01-02 03:04:05", "yesterday", "",
    None, 5, "2024-12-31T23:59:59-01:30", "2024-01-02T03:04:05z", "0001-01-01T00:00:00Z",
)  # fmt: skip
NUMBERS: tuple[Json, ...] = (0, 1, -1, 2, 33, 1001, 2**31, 2**63, -(2**63), 1.5, 1.0, "1", True)
WRONG: tuple[Json, ...] = (None, 7, 1.5, True, False, "text", [], {}, [1], {"a": 1}, [None], "")
EXPRESSIONS = ("true", 'device.driver == "gpu.example.com"', 'device.attributes["gpu.example.com"].model == "x"')
BAD_EXPRESSIONS = (
    "",
    "device.driver",
    "device.nothing",
    "true &&",
    "1 == 'a'",
    "x" * 10241,
    "device.allowMultipleAllocations == true",
    'device.attributes["gpu.example.com"].model.includes("x")',
    'device.attributes["a.b"].all(k, device.attributes["a.b"].all(l, k == l && k.matches("a.*")))',
    "device.capacity['gpu.example.com'].memory",
    "[1]",
    "dyn(1)",
)
UUID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
UUIDS = (UUID, UUID.upper(), "{" + UUID + "}", "urn:uuid:" + UUID, UUID.replace("-", ""), UUID[:-1], "x" * 36, "")
ADDRESSES = (
    "10.9.8.7/24", "10.09.8.7/24", "2001:db8::1/64", "2001:DB8::1/64", "::ffff:1.2.3.4/120", "10.9.8.7", "10.9.8.7/33", "x/24",
    "10.9.8/24", "fe80::1%eth0/64", "10.9.8.7/024", "::/0", "0.0.0.0/0", "1:2:3:4:5:6:7:8/128", "::ffff:1.2.3.4/24",
)  # fmt: skip


class Maker:
    """Builds objects from one random stream."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def maybe(self, chance: float = 0.5) -> bool:
        return self.rng.random() < chance

    def some(self, low: int, high: int, make: Callable[[int], Json]) -> list[Json]:
        return [make(index) for index in range(self.rng.randint(low, high))]

    # --- parts ---

    def metadata(self, namespaced: bool) -> Json:
        meta: Json = {"name": self.rng.choice(("a", "my-object", "x.y"))}
        if namespaced:
            meta["namespace"] = "default"
        if self.maybe(0.2):
            meta["labels"] = {"example.com/a": "b", "c": ""}
        if self.maybe(0.2):
            meta["annotations"] = {"Example.com/A": "anything at all"}
        if self.maybe(0.15):
            meta["finalizers"] = [self.rng.choice(("example.com/f", "orphan", "foregroundDeletion"))]
        if self.maybe(0.15):
            meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}]
        if self.maybe(0.3):
            meta |= {"uid": "u1", "resourceVersion": "7", "generation": 2, "creationTimestamp": "2024-01-02T03:04:05Z"}
        if self.maybe(0.1):
            meta["managedFields"] = [
                {
                    "manager": "kubectl",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "2024-01-02T03:04:05Z",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:a": {}},
                }
            ]
        return meta

    def node_selector(self) -> Json:
        expression = self.rng.choice(
            (
                {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]},
                {"key": "zone", "operator": "Exists"},
                {"key": "cores", "operator": "Gt", "values": ["4"]},
            )
        )
        term: Json = {"matchExpressions": [expression]}
        if self.maybe(0.3):
            term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
        return {"nodeSelectorTerms": [term]}

    def taint(self) -> Json:
        taint: Json = {"key": "example.com/broken", "effect": self.rng.choice(("NoSchedule", "NoExecute", "None"))}
        if self.maybe():
            taint["value"] = "yes"
        if self.maybe():
            taint["timeAdded"] = "2024-01-02T03:04:05Z"
        return taint

    def toleration(self) -> Json:
        return copy.deepcopy(
            self.rng.choice(
                (
                    {"key": "example.com/broken", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
                    {"key": "a", "value": "b"},
                    {"operator": "Exists"},
                    {},
                )
            )
        )

    def selectors(self) -> Json:
        return self.some(0, 3, lambda _: {"cel": {"expression": self.rng.choice(EXPRESSIONS)}})

    def opaque(self) -> Json:
        return {
            "opaque": {
                "driver": "gpu.example.com",
                "parameters": {"apiVersion": "x/v1", "kind": "Config", "deep": [1, 2.5, None, {}]},
            }
        }

    def condition(self, index: int) -> Json:
        return {
            "type": f"Ready{index}",
            "status": "True",
            "reason": "Fine",
            "message": "all good",
            "lastTransitionTime": "2024-01-02T03:04:05Z",
        }

    # --- claims ---

    def amount(self) -> Json:
        return copy.deepcopy(
            self.rng.choice(({}, {"allocationMode": "ExactCount", "count": 2}, {"allocationMode": "All"}, {"count": 3}))
        )

    def plain_request(self, exact: bool) -> Json:
        request: Json = {"deviceClassName": "gpu.example.com", **self.amount()}
        if self.maybe(0.5):
            request["selectors"] = self.selectors()
        if self.maybe(0.3):
            request["tolerations"] = self.some(0, 3, lambda _: self.toleration())
        if exact and self.maybe(0.2):
            request["adminAccess"] = self.rng.choice((True, False))
        if self.maybe(0.2):
            request["capacity"] = {"requests": {"memory": self.rng.choice(("10Gi", "1024Mi", 5))}}
        if self.maybe(0.15):
            request["derivedAttributes"] = self.some(
                0, 2, lambda index: {"name": f"derived/d{index}", "expression": "device.driver"}
            )
        return request

    def request(self, index: int, version: str) -> Json:
        request: Json = {"name": f"req{index}"}
        if self.maybe(0.3):
            request["firstAvailable"] = self.some(1, 3, lambda each: {"name": f"sub{each}", **self.plain_request(False)})
        elif version == "v1beta1":
            request |= self.plain_request(True)
        else:
            request["exactly"] = self.plain_request(True)
        return request

    def claim_spec(self, version: str) -> Json:
        devices: Json = {"requests": self.some(0, 4, lambda index: self.request(index, version))}
        names = [request["name"] for request in devices["requests"]]
        names += [
            f"{request['name']}/{each['name']}" for request in devices["requests"] for each in request.get("firstAvailable", ())
        ]
        chosen = lambda: self.rng.sample(names, self.rng.randint(0, len(names)))  # noqa: E731
        if self.maybe(0.5):
            devices["constraints"] = self.some(
                1,
                3,
                lambda index: {
                    "requests": chosen(),
                    self.rng.choice(("matchAttribute", "distinctAttribute")): self.rng.choice(
                        ("gpu.example.com/numa", f"derived/d{index}")
                    ),
                },
            )
        if self.maybe(0.4):
            devices["config"] = self.some(1, 2, lambda _: {"requests": chosen(), **self.opaque()})
        return {"devices": devices}

    def claim_status(self, spec: Json) -> Json:
        names = [request["name"] for request in spec["devices"]["requests"]] or ["req0"]
        results: list[Json] = []
        for index in range(self.rng.randint(0, 3)):
            result: Json = {
                "request": self.rng.choice(names),
                "driver": "gpu.example.com",
                "pool": "node-1/a",
                "device": f"gpu-{index}",
            }
            if self.maybe(0.3):
                result["shareID"] = UUID
                result["consumedCapacity"] = {"memory": "10Gi"}
            if self.maybe(0.2):
                result["tolerations"] = [self.toleration()]
            if self.maybe(0.2):
                result |= {"bindingConditions": ["example.com/ready"], "bindingFailureConditions": ["example.com/failed"]}
            if self.maybe(0.1):
                result["adminAccess"] = True
            if self.maybe(0.1):
                result["skipNodeOperations"] = ["*"]
            results.append(result)
        allocation: Json = {"devices": {"results": results}}
        if self.maybe(0.4):
            allocation["devices"]["config"] = [
                {"source": self.rng.choice(("FromClass", "FromClaim")), "requests": names[:1], **self.opaque()}
            ]
        if self.maybe(0.4):
            allocation["nodeSelector"] = self.node_selector()
        if self.maybe(0.3):
            allocation["allocationTimestamp"] = "2024-01-02T03:04:05Z"
        status: Json = {"allocation": allocation}
        if self.maybe(0.6):
            status["reservedFor"] = self.some(
                0, 3, lambda index: {"resource": "pods", "name": f"pod-{index}", "uid": f"uid-{index}"}
            )
        if self.maybe(0.5):
            status["devices"] = [self.device_status(result) for result in results]
        return status

    def device_status(self, result: Json) -> Json:
        device: Json = {key: result[key] for key in ("driver", "pool", "device", "shareID") if key in result}
        if self.maybe():
            device["conditions"] = self.some(0, 2, self.condition)
        if self.maybe(0.4):
            device["data"] = {"any": ["thing"]}
        if self.maybe(0.5):
            device["networkData"] = {"interfaceName": "eth0", "hardwareAddress": "00:11", "ips": ["10.9.8.7/24", "2001:db8::1/64"]}
        return device

    # --- slices ---

    def attribute(self) -> Json:
        return copy.deepcopy(
            self.rng.choice(
                (
                    {"string": "H100"}, {"int": 0}, {"int": -5}, {"bool": False}, {"version": "1.2.3-rc.1+b5"}, {"string": ""},
                    {"ints": [1, 2]}, {"bools": [True]}, {"strings": ["a", "b"]}, {"versions": ["1.0.0"]},
                )
            )
        )  # fmt: skip

    def policy(self) -> Json:
        return copy.deepcopy(
            self.rng.choice(
                (
                    {"default": "1Gi", "validValues": ["1Gi", "2Gi", "4Gi"]},
                    {"default": "2", "validRange": {"min": "1", "max": "10", "step": "1"}},
                    {"default": "2Gi", "validRange": {"min": "1Gi"}},
                    {"default": "1500m", "validRange": {"min": "500m", "max": "10", "step": "500m"}},
                    {"default": "10Gi"},
                    {},
                )
            )
        )

    def device(self, index: int, per_device: bool) -> Json:
        device: Json = {"name": f"gpu-{index}"}
        if self.maybe(0.8):
            names = ("model", "gpu.example.com/numa", "resource.kubernetes.io/pcieRoot", "Uuid_1")
            device["attributes"] = {name: self.attribute() for name in names if self.maybe()}
        if self.maybe(0.7):
            device["capacity"] = {
                name: {"value": self.rng.choice(("80Gi", "40960Mi", "16"))} for name in ("memory", "cores") if self.maybe(0.7)
            }
            if self.maybe(0.4):
                device["allowMultipleAllocations"] = True
                for entry in device["capacity"].values():
                    if self.maybe(0.7):
                        entry["requestPolicy"] = self.policy()
        if self.maybe(0.3):
            device["consumesCounters"] = self.some(
                0,
                2,
                lambda each: {
                    "counterSet": f"set{each}",
                    "counters": {"memory": {"value": "10Gi"}, "slices": {"value": "1"}},
                    **({"compatibilityGroups": ["a", "b"]} if self.maybe(0.3) else {}),
                },
            )
        if self.maybe(0.25):
            device["taints"] = self.some(0, 2, lambda _: self.taint())
        if self.maybe(0.2):
            device |= {
                "bindingConditions": ["example.com/ready"],
                "bindingFailureConditions": ["example.com/failed"],
                "bindsToNode": True,
            }
        if per_device or self.maybe(0.03):
            device |= copy.deepcopy(
                self.rng.choice(({"nodeName": "n1"}, {"allNodes": True}, {"nodeSelector": self.node_selector()}))
            )
        if self.maybe(0.1):
            device["nodeAllocatableResources"] = copy.deepcopy(
                self.rng.choice(
                    (
                        {"cpu": {"mapping": {"deviceMultiplier": "2"}}},
                        {
                            "memory": {
                                "mapping": {"capacityKey": "memory", "capacityMultiplier": "1"},
                                "overhead": {"perPod": "1Gi"},
                            }
                        },
                        {"hugepages-2Mi": {"overhead": {"perContainer": "0"}}},
                    )
                )
            )
        return device

    def slice_spec(self, version: str) -> Json:
        spec: Json = {"driver": "gpu.example.com", "pool": {"name": "node-1/a", "generation": 1, "resourceSliceCount": 1}}
        where = self.rng.randrange(4)
        if where == 0:
            spec["nodeName"] = "node-1"
        elif where == 1:
            spec["allNodes"] = True
        elif where == 2:
            spec["nodeSelector"] = self.node_selector()
        else:
            spec["perDeviceNodeSelection"] = True
        if self.maybe(0.2):
            spec["sharedCounters"] = self.some(
                0, 3, lambda index: {"name": f"set{index}", "counters": {"memory": {"value": "80Gi"}, "slices": {"value": 7}}}
            )
        else:
            spec["devices"] = self.some(0, 4, lambda index: self.device(index, where == 3))
            if version == "v1beta1":
                spec["devices"] = [
                    {"name": device.pop("name"), **({"basic": device} if device or self.maybe(0.8) else {})}
                    for device in spec["devices"]
                ]
        if self.maybe(0.06):
            spec["partitionTypeAttribute"] = "gpu.example.com/profile"
        if self.maybe(0.06):
            spec["skipNodeOperations"] = self.rng.choice((["*"], ["NodeUnprepareResources"], ["NodePrepareResources"]))
        return spec

    # --- objects ---

    def valid(self, kind: str, version: str) -> Json:
        obj: Json = {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": self.metadata(kind.startswith("ResourceClaim"))}
        match kind:
            case "ResourceSlice":
                obj["spec"] = self.slice_spec(version)
            case "ResourceClaim":
                obj["spec"] = self.claim_spec(version)
            case "ResourceClaimTemplate":
                obj["spec"] = {"spec": self.claim_spec(version)}
                if self.maybe(0.3):
                    obj["spec"]["metadata"] = {"labels": {"a": "b"}, "annotations": {"c": "d"}}
            case "DeviceClass":
                obj["spec"] = {}
                if self.maybe(0.7):
                    obj["spec"]["selectors"] = self.selectors()
                if self.maybe(0.4):
                    obj["spec"]["config"] = self.some(0, 2, lambda _: self.opaque())
                if self.maybe(0.3):
                    obj["spec"]["extendedResourceName"] = "example.com/gpu"
            case _:
                obj["spec"] = {"taint": self.taint()}
                if self.maybe(0.8):
                    obj["spec"]["deviceSelector"] = {
                        key: value
                        for key, value in (("driver", "gpu.example.com"), ("pool", "node-1/a"), ("device", "gpu-0"))
                        if self.maybe(0.6)
                    }
                if self.maybe(0.2):
                    obj["status"] = {"conditions": self.some(0, 2, self.condition)}
        return obj

    # --- damage ---

    def hurt(self, obj: Json) -> None:
        """Change one place of an object, at any depth."""
        places = list(_places(obj))
        if not places:
            return
        parent, key = self.rng.choice(places)
        value = parent[key]
        choice = self.rng.random()
        if key in ("apiVersion", "kind") and parent is obj and self.maybe(0.8):
            return
        if isinstance(parent, dict) and choice < 0.12:
            del parent[key]
        elif isinstance(parent, dict) and choice < 0.17:
            parent[self.rng.choice((f"{key}z", key.capitalize(), key[:-1], "unknown", key.lower()))] = parent.pop(key)
        elif isinstance(parent, dict) and choice < 0.20:
            parent[self.rng.choice(NAMES)] = copy.deepcopy(value)
        elif choice < 0.30:
            parent[key] = copy.deepcopy(self.rng.choice(WRONG))
        elif isinstance(value, list) and value and choice < 0.75:
            copies = self.rng.choice((1, 1, 2, 8, 32, 64, 128, 256))
            value.extend(copy.deepcopy(self.rng.choice(value)) for _ in range(copies))
            if copies > 2 and self.maybe(0.7):
                for index, entry in enumerate(value):
                    if isinstance(entry, dict) and "name" in entry:
                        entry["name"] = f"e{index}"
        elif isinstance(value, list):
            parent[key] = self.rng.choice(([], [None], [{}], [""], value + value))
        elif isinstance(value, dict):
            self._hurt_map(value)
        elif isinstance(value, bool):
            parent[key] = self.rng.choice((not value, None, "true", 1))
        elif isinstance(value, int):
            parent[key] = self.rng.choice(NUMBERS)
        elif isinstance(value, str):
            parent[key] = self._other_text(str(key), value)
        else:
            parent[key] = copy.deepcopy(self.rng.choice(WRONG))

    def _hurt_map(self, value: dict[str, Json]) -> None:
        what = self.rng.random()
        if what < 0.3:
            value.clear()
        elif what < 0.5:
            value[self.rng.choice(NAMES)] = copy.deepcopy(self.rng.choice(WRONG))
        elif what < 0.75 and value:
            # Maps grow; structs get unknown fields of a known shape.
            sample = copy.deepcopy(self.rng.choice(list(value.values())))
            for index in range(self.rng.choice((1, 33, 49))):
                value[f"k{index}"] = copy.deepcopy(sample)
        elif value:
            self.hurt(value)

    def _other_text(self, key: str, value: str) -> Json:
        if key in ("value", "default", "min", "max", "step", "memory", "cores", "perPod", "perContainer") or key.endswith(
            "Multiplier"
        ):
            return copy.deepcopy(self.rng.choice(QUANTITIES))
        if key.startswith("time") or key.endswith(("Timestamp", "Time")):
            return self.rng.choice(TIMES)
        if key == "expression" or value in EXPRESSIONS:
            return self.rng.choice((*EXPRESSIONS, *BAD_EXPRESSIONS))
        if key == "shareID":
            return self.rng.choice(UUIDS)
        if key in ("version", "versions"):
            return self.rng.choice(("1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3-a.b+c.d", "1.2.3+" + "b" * 64, ""))
        if self.maybe(0.1):
            return self.rng.choice(ADDRESSES)
        if self.maybe(0.1):
            return "".join(self.rng.choice(string.printable) for _ in range(self.rng.choice((1, 5, 70, 300))))
        return self.rng.choice(NAMES)


def _places(value: Json, depth: int = 0) -> Iterator[tuple[Json, Json]]:
    if isinstance(value, dict):
        for key in value:
            yield value, key
            yield from _places(value[key], depth + 1)
    elif isinstance(value, list):
        for index in range(min(len(value), 6)):
            yield value, index
            yield from _places(value[index], depth + 1)


def problems(seed: int | str, count: int, gates: dict[str, bool]) -> Iterator[Json]:
    """`count` questions to the oracle (its JSON protocol), the same ones for the same seed and gates."""
    rng = random.Random(f"{seed}/{json.dumps(gates, sort_keys=True)}")
    make = Maker(rng)
    for index in range(count):
        kind, versions = rng.choice(KINDS)
        version = rng.choice(versions)
        obj = make.valid(kind, version)
        question: Json = {"id": str(index), "gates": gates}
        hurts = rng.choice((0, 1, 1, 1, 2, 2, 4))
        what = rng.random()
        if kind == "ResourceClaim" and what < 0.45:
            status = make.claim_status(obj["spec"])
            question["old"] = copy.deepcopy(obj)
            if rng.random() < 0.35:
                question["old"]["status"] = copy.deepcopy(status)
            question["status"] = rng.random() < 0.85
            obj["status"] = status
            for _ in range(hurts):
                make.hurt(obj["status"] if "status" in obj and rng.random() < 0.85 else obj)
            if rng.random() < 0.8 and isinstance(obj.get("metadata"), dict):
                obj["metadata"]["resourceVersion"] = "7"
        elif what < 0.4:
            question["old"] = copy.deepcopy(obj)
            if rng.random() < 0.5 and kind != "ResourceClaim":
                # An old object that is invalid itself: what ratchets and what does not.
                for _ in range(rng.choice((1, 2))):
                    make.hurt(question["old"].get("spec"))
                obj = copy.deepcopy(question["old"])
            for _ in range(rng.choice((0, hurts))):
                make.hurt(obj)
            if rng.random() < 0.8 and isinstance(obj.get("metadata"), dict):
                obj["metadata"]["resourceVersion"] = "7"
        else:
            for _ in range(hurts):
                make.hurt(obj)
        question["object"] = obj
        known = dict(KINDS)[kind]
        question["to"] = f"{GROUP}/{rng.choice(known)}"
        yield question
