"""Random allocation problems, hard on purpose.

A problem is what the allocation oracle reads (reference/README.md). It is made from a few *topics*, each of which brings one part
of the contract into play: a problem about counters alone finds other bugs than one where counters meet shared capacity and
alternatives. Small pools, scarce devices and few distinct values make requests collide, so that most problems need backtracking and
about half fail.

What upstream answers at random is never generated: slices of a pool that disagree about their number, a device that carries both
`x` and `<its driver>/x` (upstream-dra.md 3.18, cel.md 11.5). Neither are inputs on which upstream crashes: a step of zero, a
negative count.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import combinations
from typing import Any

from reparto.allocation import Features

Problem = dict[str, Any]

SWITCHES = sorted(asdict(Features()))
DEFAULTS = dict.fromkeys(SWITCHES, True) | dict.fromkeys(
    ("list_type_attributes", "derived_attributes", "compatibility_groups", "optional_node_operations", "fractional_capacity_range"),
    False,
)
"""A 1.37 scheduler's features (upstream-dra.md section 1)."""

TOPICS = (
    "selectors",
    "taints",
    "counters",
    "groups",
    "sharing",
    "fractions",
    "constraints",
    "lists",
    "derived",
    "all",
    "alternatives",
    "admin",
    "binding",
    "nodes",
    "broken-pools",
    "claims",
    "config",
    "allocated",
    "operations",
    "many",
    "contradictions",
)

ODDITIES = (
    "node selectors",
    "attributes",
    "capacities",
    "policies",
    "amounts",
    "counters",
    "classes",
    "requests",
    "tolerations",
    "constraints",
)
"""Input that validation refuses, or would have to: what an allocator may still meet in stored objects."""

DRIVERS = ("a.example.com", "b.example.com")
NODES = {
    "n1": {"zone": "east", "rack": "1", "example.com/gpu": "yes"},
    "n2": {"zone": "east", "rack": "2"},
    "n3": {"zone": "west", "rack": "x"},
}
STANDARD_ROOT = "resource.kubernetes.io/pcieRoot"


class Maker:
    """Makes one problem. Every choice comes from `rng`, so a seed and a number name the problem."""

    def __init__(self, rng: random.Random, topics: Iterable[str]) -> None:
        self.rng = rng
        self.topics = frozenset(topics)
        self.pools: list[tuple[str, str]] = []
        self.published: list[tuple[str, str, str]] = []
        self.shares = 0
        self.place = ("", "")
        self.on: dict[str, bool] = {}
        self.holds = self.has("allocated") or self.has("counters", 0.6) or self.has("sharing", 0.5)
        # One or two kinds of nonsense at a time: more would only hide each other behind the first error.
        self.odd = frozenset(rng.sample(ODDITIES, rng.choice((1, 1, 2)))) if "contradictions" in self.topics else frozenset[str]()

    def has(self, topic: str, chance: float = 1.0) -> bool:
        return topic in self.topics and self.rng.random() < chance

    def asks(self, topic: str, chance: float) -> bool:
        """Like `has`, for what makes a request harder to satisfy: less often where many topics do that together."""
        return self.has(topic, chance * (1 if len(self.topics) < 8 else 0.35))

    def depends_on_node_order(self) -> bool:
        """Whether upstream's answer for a node may depend on the nodes that it looked at before.

        It keeps what a pool's allocated devices hold as the first node saw it. That differs between nodes for pools that are
        broken, and for allocated devices whose compatibility groups contradict each other: there the order of the devices counts.
        """
        return "broken-pools" in self.topics or ("groups" in self.topics and self.holds)

    def uses(self, switch: str) -> bool:
        """Whether to ask for something that needs a feature: seldom where it is off, for that ends the problem at once."""
        return self.on[switch] or self.rng.random() < 0.1

    def strange(self, oddity: str, chance: float) -> bool:
        return oddity in self.odd and self.rng.random() < chance

    def fewer(self, numbers: tuple[int, ...]) -> int:
        """One of the numbers; where many topics meet, mostly a small one, for there everything asked for is hard to get."""
        return self.rng.choice(numbers if len(self.topics) < 3 else numbers[:4] if len(self.topics) < 8 else numbers[:3])

    def problem(self) -> Problem:
        self.on = self.features()
        slices = self.slices()
        claims = [self.claim(f"claim-{index}") for index in range(self.rng.choice((2, 2, 3)) if self.asks("claims", 1) else 1)]
        problem: Problem = {
            "features": self.on,
            "classes": self.classes(),
            "slices": slices,
            "claims": claims,
            "variants": ["incubating", "experimental"],
            "timeoutMillis": 500,
        }
        if "nodes" in self.topics and not self.depends_on_node_order() and self.rng.random() < 0.5:
            problem["nodes"] = [self.node(name) for name in self.rng.sample(sorted(NODES), 3)]
        else:
            problem["node"] = self.node("n1")
        if self.holds:
            problem |= self.allocations()
        return problem

    def features(self) -> dict[str, bool]:
        new = self.topics & {"lists", "derived", "groups", "operations", "fractions"}
        everything = self.rng.random() < (0.9 if new else 0.5)
        features = dict.fromkeys(SWITCHES, True) if everything else dict(DEFAULTS)
        if self.has("lists", 0.3):
            features["list_type_attributes"] = False
        if self.rng.random() < 0.3:
            for switch in self.rng.sample(SWITCHES, self.rng.choice((1, 1, 1, 2, 3))):
                features[switch] = not features[switch]
        return features

    def node(self, name: str) -> dict[str, Any]:
        node: dict[str, Any] = {"metadata": {"name": name, "labels": dict(NODES[name])}}
        if self.rng.random() < 0.7:
            node["status"] = {"declaredFeatures": ["DRAOptionalNodeOperations"]}
        return node

    # --- what drivers publish ----------------------------------------------------------------------------------------------------

    def slices(self) -> list[dict[str, Any]]:
        slices: list[dict[str, Any]] = []
        for _ in range(self.rng.choice((1, 1, 2, 2, 3))):
            driver = self.rng.choice(DRIVERS)
            pool = self.rng.choice(("n1", "net", "a/b", "p2"))
            if (driver, pool) not in self.pools:
                self.pools.append((driver, pool))
                slices += self.pool(driver, pool)
        self.rng.shuffle(slices)
        return slices

    def pool(self, driver: str, name: str, generation: int | None = None) -> list[dict[str, Any]]:
        rng = self.rng
        generation = rng.choice((0, 1, 7)) if generation is None else generation
        counter_sets = self.counter_sets() if self.has("counters", 0.8) or self.has("groups", 0.9) else []
        number = rng.choice((1, 1, 2, 3))
        per_device = self.has("nodes", 0.35)
        where = self.where()
        # One pool over several nodes: what other nodes hold of it counts for counters, and for whether it is complete.
        spread = self.has("counters", 0.5) or self.has("broken-pools", 0.5) or self.has("nodes", 0.3)
        slices: list[dict[str, Any]] = []
        for index in range(number):
            if spread:
                where = self.where() if "nodes" in self.topics else self.somewhere()
            spec: dict[str, Any] = {"driver": driver}
            spec |= {"perDeviceNodeSelection": True} if per_device else dict(where)
            self.place = (driver, name)
            size = rng.choice(
                (0, 1, 2, 2, 3, 4) if len(self.topics) < 3 else (1, 2, 3, 4, 5) if len(self.topics) < 8 else (3, 4, 5, 6, 8)
            )
            spec["devices"] = [self.device(driver, f"d{index}-{n}", counter_sets, per_device) for n in range(size)]
            several = "alternatives" in self.topics  # where it takes more than 32 devices to tell one from another
            if self.has("many", 0.8 if several else 0.4):
                amount = rng.choice((20, 40, 40) if several else (8, 20, 40))
                spec["devices"] += [self.device(driver, f"m{index}-{n}", counter_sets, per_device) for n in range(amount)]
            if self.has("operations", 0.6):
                spec["skipNodeOperations"] = rng.choice(
                    (["*"], ["NodePrepareResources", "NodeUnprepareResources"], ["NodeUnprepareResources"])
                )
            slices.append(spec)
        if counter_sets:
            split = rng.randint(0, len(counter_sets)) if rng.random() < 0.3 else len(counter_sets)
            for sets in (counter_sets[:split], counter_sets[split:]):
                if sets:
                    place = dict(rng.choice((where, {"allNodes": True}, self.where()))) if spread else dict(where)
                    slices.append({"driver": driver, "sharedCounters": sets} | place)
        count = len(slices)
        if self.has("broken-pools", 0.25):
            count += rng.choice((-1, 1, 1))
        objects = []
        for spec in slices:
            spec["pool"] = {"name": name, "generation": generation, "resourceSliceCount": max(count, 1)}
            objects.append(self.slice_object(spec))
        if self.has("broken-pools", 0.7) and objects:
            self.break_pool(objects, generation)
        return objects

    def slice_object(self, spec: dict[str, Any]) -> dict[str, Any]:
        return {"metadata": {"name": f"{self.rng.randrange(16**5):05x}-{spec['driver'][0]}"}, "spec": spec}

    def where(self) -> dict[str, Any]:
        if "nodes" not in self.topics:
            return {"nodeName": "n1"} if self.rng.random() < 0.8 else {"allNodes": True}
        return self.rng.choice(
            (
                {"nodeName": "n1"},
                {"nodeName": "n1"},
                {"nodeName": "n2"},
                {"allNodes": True},
                {"allNodes": True},
                {"nodeSelector": {"nodeSelectorTerms": [self.term()]}},
                {"nodeSelector": {"nodeSelectorTerms": [self.term()]}},
                {"nodeSelector": {"nodeSelectorTerms": [self.term()]}},
            )
        )

    def somewhere(self) -> dict[str, Any]:
        """Where a slice is that belongs to a pool of several nodes."""
        return self.rng.choice(({"nodeName": "n1"}, {"nodeName": "n2"}, {"allNodes": True}))

    def term(self) -> dict[str, Any]:
        rng = self.rng
        requirements = [
            {"key": "zone", "operator": "In", "values": ["east"]},
            *(
                {"key": "zone", "operator": "In", "values": values}
                for values in (["west", "east"], ["east", "west"], ["east", "west", "east"])
            ),
            {"key": "zone", "operator": "NotIn", "values": ["west"]},
            {"key": "absent", "operator": "NotIn", "values": ["x"]},
            {"key": "example.com/gpu", "operator": "Exists"},
            {"key": "example.com/gpu", "operator": "DoesNotExist"},
            {"key": "rack", "operator": "Gt", "values": ["0"]},
            {"key": "rack", "operator": "Lt", "values": ["2"]},
        ]
        if self.strange("node selectors", 0.3):
            requirements += [
                {"key": "zone", "operator": "Near", "values": ["east"]},
                {"key": "zone", "operator": "Exists", "values": ["east"]},
                {"key": "rack", "operator": "Gt", "values": ["x"]},
                {"key": "rack", "operator": "Lt", "values": ["-1"]},  # an integer, but no label value
                {"key": "zone", "operator": "In"},
                {"key": "not a key", "operator": "Exists"},
                {"key": "zone", "operator": "In", "values": ["not a value!"]},
            ]
        fields = [
            {"key": "metadata.name", "operator": "In", "values": ["n1"]},
            {"key": "metadata.name", "operator": "NotIn", "values": ["n2"]},
        ]
        if self.strange("node selectors", 0.3):
            fields += [
                {"key": "metadata.name", "operator": "In", "values": ["n1", "n2"]},
                {"key": "metadata.uid", "operator": "In", "values": ["n1"]},
            ]
        term: dict[str, Any] = {}
        if rng.random() < 0.9:
            term["matchExpressions"] = rng.sample(requirements, rng.choice((1, 1, 2)))
        if rng.random() < 0.25:
            term["matchFields"] = rng.sample(fields, 1)
        return term

    def break_pool(self, objects: list[dict[str, Any]], generation: int) -> None:
        rng = self.rng
        victim = rng.choice(objects)
        copy = json.loads(json.dumps(victim))
        match rng.choice((0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8)):
            case 0:  # a newer slice somewhere, for this node or another
                copy["metadata"]["name"] += "-newer"
                copy["spec"]["pool"]["generation"] = generation + 1
                if rng.random() < 0.7:
                    _move(copy["spec"], {"nodeName": rng.choice(("n1", "n2", "n2"))})
                objects.append(copy)
            case 1 | 2:  # leftovers of an older generation
                copy["metadata"]["name"] += "-older"
                copy["spec"]["pool"]["generation"] = generation - 1
                objects.append(copy)
            case 3:  # not all there
                objects.remove(victim)
            case 4:  # the same device twice
                devices = victim["spec"].get("devices")
                if devices:
                    other = rng.choice(objects)["spec"].get("devices")
                    if other is not None:
                        other.append(json.loads(json.dumps(rng.choice(devices))))
            case 5:  # the same counter set twice
                for published in objects:
                    sets = published["spec"].get("sharedCounters")
                    if sets:
                        sets.append(json.loads(json.dumps(rng.choice(sets))))
                        break
            case 6:  # an unknown counter or counter set
                devices = [d for o in objects for d in o["spec"].get("devices", ()) if d.get("consumesCounters")]
                if devices:
                    consumption = rng.choice(devices)["consumesCounters"][0]
                    if rng.random() < 0.5:
                        consumption["counterSet"] = "nowhere"
                    else:
                        consumption["counters"]["nothing"] = {"value": "1"}
            case 7:  # moved to another node, or to none that we know
                if victim["spec"].get("perDeviceNodeSelection") is None:
                    _move(victim["spec"], rng.choice(({"nodeName": "n2"}, {})))
            case _:  # one too many
                copy["metadata"]["name"] += "-extra"
                copy["spec"].pop("sharedCounters", None)
                copy["spec"]["devices"] = []
                objects.append(copy)

    def counter_sets(self) -> list[dict[str, Any]]:
        rng = self.rng
        sets = []
        for name in rng.choice((("s1",), ("s1",), ("s1", "s2"))):
            counters = {
                key: {"value": rng.choice(("1", "2", "2", "3", "40Gi"))} for key in rng.choice((("slots",), ("slots", "memory")))
            }
            if self.strange("counters", 0.1):
                counters["slots"] = {"value": "-1"}
            sets.append({"name": name, "counters": counters})
        return sets

    def device(self, driver: str, name: str, counter_sets: list[dict[str, Any]], per_device: bool) -> dict[str, Any]:
        rng = self.rng
        device: dict[str, Any] = {"name": name}
        self.published.append((*self.place, name))
        attributes = self.attributes(driver)
        if attributes:
            device["attributes"] = attributes
        capacity = self.capacity(driver)
        if capacity:
            device["capacity"] = capacity
        if self.has("sharing", 0.6) or self.has("fractions", 0.6):
            device["allowMultipleAllocations"] = rng.random() < 0.9
        if counter_sets and rng.random() < 0.85:
            device["consumesCounters"] = self.consumption(counter_sets)
        if self.has("taints", 0.6):
            device["taints"] = [self.taint() for _ in range(rng.choice((1, 1, 2)))]
        if self.has("binding", 0.4):
            device["bindingConditions"] = rng.choice((["example.com/ready"], ["x/attached", "y/formatted"]))
            device["bindingFailureConditions"] = ["example.com/failed"]
        if self.has("binding", 0.3):
            device["bindsToNode"] = rng.random() < 0.8
        if per_device:
            device |= self.where()
        return device

    def attributes(self, driver: str) -> dict[str, Any]:
        rng = self.rng
        attributes: dict[str, Any] = {}

        def put(name: str, value: dict[str, Any], chance: float) -> None:
            if rng.random() < chance:
                attributes[name if rng.random() < 0.7 else f"{driver}/{name}"] = value

        put("model", {"string": rng.choice("xyz")}, 0.85)
        put("numa", {"int": rng.choice((0, 0, 1))}, 0.85)
        put("ecc", {"bool": rng.random() < 0.5}, 0.6)
        put("version", {"version": rng.choice(("1.0.0", "1.2.0", "2.0.0-rc.1"))}, 0.6)
        if rng.random() < 0.7:
            attributes[STANDARD_ROOT] = {"string": rng.choice(("pci0000:00", "pci0000:40"))}
        if self.strange("attributes", 0.5):
            # One name, two types: agreement is then impossible, difference certain.
            attributes[STANDARD_ROOT] = rng.choice(({"int": 0}, {"string": "0"}, {"version": "1.0.0"}, {"bool": False}))
        if "lists" in self.topics:
            put("roots", rng.choice(({"strings": rng.sample("pqr", rng.randint(1, 2))}, {"string": "p"}, {"ints": [1]})), 0.8)
            put("numas", rng.choice(({"ints": rng.sample((0, 1, 2), rng.randint(1, 3))}, {"int": 1})), 0.8)
            put(
                "flags",
                rng.choice(({"bools": [True]}, {"bools": [True, False]}, {"versions": ["1.0.0", "2.0.0"]}, {"version": "2.0.0"})),
                0.5,
            )
        return attributes

    def capacity(self, driver: str) -> dict[str, Any]:
        rng = self.rng
        capacity: dict[str, Any] = {}
        if rng.random() < 0.8:
            capacity["memory"] = {"value": rng.choice(("10Gi", "20Gi", "40Gi", "80Gi"))}
        if self.has("sharing", 0.8) or self.has("fractions", 0.8):
            for name in rng.choice((("memory",), ("memory", "cores"), ("cores",))):
                capacity[name] = self.policed(fractions=self.has("fractions", 0.7))
        if self.strange("capacities", 0.2):
            capacity["odd"] = {"value": rng.choice(("-1", "0", "9E", "1e19"))}
        return {(name if rng.random() < 0.8 else f"{driver}/{name}"): value for name, value in capacity.items()}

    def policed(self, fractions: bool) -> dict[str, Any]:
        rng = self.rng
        ranges = [
            ("40Gi", "10Gi", {"min": "5Gi", "step": "5Gi"}),
            ("40Gi", "8Gi", {"min": "1Gi", "max": "20Gi", "step": "1Gi"}),
            ("100", "10", {"min": "10", "step": "30", "max": "70"}),
            ("100", "1", {"min": "1", "step": "1"}),
            ("100", "5", {"min": "5", "max": "50"}),
            ("9223372036854775807", "1", {"min": "1", "step": "1000000000000000000"}),
        ]
        if fractions:
            ranges = [
                ("2", "500m", {"min": "100m", "step": "100m"}),
                ("2500m", "1", {"min": "250m", "max": "1500m", "step": "250m"}),
                ("4", "1", {"min": "1", "step": "1"}),
                ("4", "1500m", {"min": "0", "step": "1500m"}),
                ("1", "100u", {"min": "100u", "step": "100u"}),
                ("8Gi", "1Gi", {"min": "0.5Gi", "step": "0.5Gi"}),
                ("9223372036854775807m", "1m", {"min": "1m", "step": "1000000000000000m"}),
            ]
        draw = rng.random()
        value, default, allowed = rng.choice(ranges)
        if draw < 0.55:
            policy: dict[str, Any] = {"default": default, "validRange": dict(allowed)}
        elif draw < 0.85:
            value, values = rng.choice((("40Gi", ["10Gi", "20Gi", "40Gi"]), ("100", ["25", "50"]), ("2", ["500m", "1", "1500m"])))
            policy = {"default": rng.choice(values), "validValues": list(values)}
        elif draw < 0.93:
            return {"value": value}
        else:
            policy = {"default": default}
        if self.strange("policies", 0.5):
            policy["default"] = rng.choice(("7", "7.0", "3Gi", "0.5Gi", "1000", "1e3", "33m", "15"))
        return {"value": value, "requestPolicy": policy}

    def consumption(self, counter_sets: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rng = self.rng
        consumptions = []
        for counter_set in rng.sample(counter_sets, rng.randint(1, len(counter_sets))):
            names = rng.sample(sorted(counter_set["counters"]), rng.randint(1, len(counter_set["counters"])))
            consumption: dict[str, Any] = {
                "counterSet": counter_set["name"],
                "counters": {name: {"value": self.drawn(counter_set, name)} for name in names},
            }
            if self.has("groups", 0.7):
                consumption["compatibilityGroups"] = list(
                    rng.choice((("g1",), ("g1",), ("g1", "g2"), ("g2",), ("g2", "g3"), ("g3", "g1")))
                )
            consumptions.append(consumption)
        return consumptions

    def drawn(self, counter_set: dict[str, Any], name: str) -> str:
        if self.strange("counters", 0.3):
            return self.rng.choice(("-1", "0", "100Gi"))
        if counter_set["counters"][name]["value"].endswith("Gi"):
            return self.rng.choice(("10Gi", "20Gi", "5Gi"))
        return self.rng.choice(("1", "1", "1", "2", "2", "500m", "0"))

    def taint(self) -> dict[str, Any]:
        rng = self.rng
        effect = rng.choice(("NoSchedule", "NoSchedule", "NoExecute", "None", "Unheard"))
        taint = {"key": rng.choice(("example.com/sick", "example.com/old")), "effect": effect}
        if rng.random() < 0.6:
            taint["value"] = rng.choice(("yes", "no"))
        return taint

    # --- what users ask for ------------------------------------------------------------------------------------------------------

    def classes(self) -> list[dict[str, Any]]:
        rng = self.rng
        classes = [
            {"metadata": {"name": "any"}, "spec": {}},
            {"metadata": {"name": "a"}, "spec": {"selectors": [_cel('device.driver == "a.example.com"')]}},
            {
                "metadata": {"name": "big"},
                "spec": {
                    "selectors": [
                        _cel("device.capacity[device.driver].?memory.orValue(quantity('0')).compareTo(quantity('20Gi')) >= 0")
                    ]
                },
            },
        ]
        if "config" in self.topics:
            for entry in classes:
                entry["spec"]["config"] = [self.opaque(f"{entry['metadata']['name']}-{n}") for n in range(rng.choice((0, 1, 2)))]
        if "selectors" in self.topics:
            classes.append(
                {"metadata": {"name": "odd"}, "spec": {"selectors": [_cel(self.expression()) for _ in range(rng.choice((1, 2)))]}}
            )
        return classes

    def class_name(self) -> str:
        rng = self.rng
        names = ["any", "any", "any", "a", "big"]
        if "selectors" in self.topics:
            names += ["a", "big", "odd"]
        if self.strange("classes", 0.3):
            names += ["", "missing"]
        return rng.choice(names)

    def expression(self) -> str:
        rng = self.rng
        domain = rng.choice(DRIVERS)
        attributes = f'device.attributes["{domain}"]'
        sound = [
            'device.driver == "a.example.com"',
            'device.driver.startsWith("b")',
            f'{attributes}.?model.orValue("") == "{rng.choice("xyz")}"',
            f"has({attributes}.numa) && {attributes}.numa == {rng.choice((0, 1))}",
            f'device.driver != "{domain}" || !has({attributes}.version) || {attributes}.version.isGreaterThan(semver("1.1.0"))',
            f'"ecc" in {attributes} ? {attributes}.ecc : true',
            f'device.capacity["{domain}"].?memory.orValue(quantity("1")).isGreaterThan(quantity("15Gi"))',
            'device.attributes["resource.kubernetes.io"].?pcieRoot.orValue("") in ["pci0000:00", "pci0000:80"]',
            "device.allowMultipleAllocations == true || true",
            f'{attributes}.exists(k, k == "model") || device.driver == "b.example.com"',
            f'{attributes}.model == "x" || true',
            f'false && {attributes}.nothing == "x"',
        ]
        failing = [
            f'{attributes}.model == "{rng.choice("xyz")}"',
            f"{attributes}.numa < 1",
            f'device.capacity["{domain}"].memory.compareTo(quantity("20Gi")) >= 0',
            f"{attributes}.model > 3",
            f'device.driver == "{domain}" && {attributes}.nothing == 1',
            f"semver({attributes}.model).major() == 1",
        ]
        invalid = ["device.driver", "device.nothing == 1", "1 +", "device.driver == 1", "unknown(device)"]
        if "lists" in self.topics:
            sound += [
                f"{attributes}.?numas.orValue([9]).includes(1)",
                f'has({attributes}.roots) && {attributes}.roots.includes("p")',
            ]
            failing.append(f'{attributes}.roots.includes("q")')
        # A selector that fails ends nearly every problem, except where the devices that it fails on are not looked at.
        draw = rng.random() + (0.04 if len(self.topics) < 3 else 0) + (0.25 if self.topics == {"selectors", "allocated"} else 0)
        if draw < 0.97:
            return rng.choice(sound)
        return rng.choice(failing) if rng.random() < 0.7 else rng.choice(invalid)

    def claim(self, name: str) -> dict[str, Any]:
        rng = self.rng
        requests = [self.request(f"r{index}") for index in range(self.fewer((1, 1, 2, 2, 3, 4)) if rng.random() > 0.03 else 0)]
        devices: dict[str, Any] = {"requests": requests}
        references = [request["name"] for request in requests]
        references += [f"{request['name']}/{sub['name']}" for request in requests for sub in request.get("firstAvailable", ())]
        often = 0.9 if len(self.topics) < 3 else 0.5
        if (self.asks("constraints", often) or self.asks("lists", often) or self.asks("derived", often)) and requests:
            devices["constraints"] = [self.constraint(references) for _ in range(rng.choice((1, 1, 2)))]
        if self.has("config", 0.9):
            devices["config"] = [self.claim_config(references, index) for index in range(rng.choice((1, 2, 3)))]
        return {"metadata": {"name": name, "namespace": "ns", "uid": f"uid-{name}"}, "spec": {"devices": devices}}

    def request(self, name: str) -> dict[str, Any]:
        if self.asks("alternatives", 0.7) and self.uses("prioritized_list"):
            asks = [self.ask(sub=True) for _ in range(self.rng.choice((1, 2, 2, 3)))]
            if self.has("many", 0.8):
                asks.sort(key=lambda ask: -ask["count"])  # as people do: much, or else less
                asks[-1]["count"] = min(asks[-1]["count"], 2)
            return {"name": name, "firstAvailable": [{"name": f"s{index}"} | ask for index, ask in enumerate(asks)]}
        return {"name": name, "exactly": self.ask(sub=False)}

    def ask(self, sub: bool) -> dict[str, Any]:
        rng = self.rng
        ask: dict[str, Any] = {
            "deviceClassName": self.class_name(),
            "allocationMode": "ExactCount",
            "count": self.fewer((1, 1, 1, 2, 2, 3)),
        }
        if self.asks("all", 0.5):
            ask |= {"allocationMode": "All", "count": 0}
        elif self.asks("many", 0.7 if "alternatives" in self.topics else 0.3):
            # Alternatives meet the limit of 32 in their own way: a claim may be too large with one and not with another.
            few = (1, 8, 16, 17, 20, 31) if sub else (1, 8, 16)
            ask["count"] = rng.choice(few if "alternatives" in self.topics else (5, 8, 12, 16, 20, 31, 32, 33))
        elif self.strange("requests", 0.3):
            ask |= rng.choice(({"count": 0}, {"allocationMode": ""}, {"allocationMode": "Some"}, {"count": 2**40}))
        if self.asks("selectors", 0.8):
            ask["selectors"] = [_cel(self.expression()) for _ in range(rng.choice((1, 1, 2)))]
        if self.has("taints", 0.6):
            ask["tolerations"] = [self.toleration() for _ in range(rng.choice((1, 1, 2)))]
        if (self.has("sharing", 0.6) or self.has("fractions", 0.7)) and self.uses("consumable_capacity"):
            ask["capacity"] = {"requests": self.amounts()}
        if self.asks("admin", 0.5) and not sub and self.uses("admin_access"):
            ask["adminAccess"] = rng.random() < 0.85
        if self.has("derived", 0.7) and self.uses("derived_attributes"):
            ask["derivedAttributes"] = [
                {"name": name, "expression": self.derived()}
                for name in rng.sample(("derived/x", "derived/y", STANDARD_ROOT), rng.choice((1, 2)))
            ]
        return ask

    def amounts(self) -> dict[str, str]:
        rng = self.rng
        texts = ["1Gi", "5Gi", "7Gi", "10Gi", "20Gi", "1", "7", "25", "30", "60", "1500m", "500m", "1", "2"]
        if "fractions" in self.topics:
            texts += ["100m", "250m", "300m", "1500001u", "1750m", "0.5Gi", "150u", "100u", "9223372036854775800m"]
        if self.strange("amounts", 0.6):
            texts += ["0", "-1", "1e19", "9223372036854775807", "9E", "3Gi", "7.0", "1e3", "33m"]
        names = rng.choice((("memory",), ("cores",), ("memory", "cores"), ("memory",), ("a.example.com/memory",)))
        return {name: rng.choice(texts) for name in names}

    def derived(self) -> str:
        rng = self.rng
        domain = "device.attributes[device.driver]"
        sound = [
            f'{domain}.?model.orValue("none")',
            f"{domain}.?numa.orValue(7)",
            f"{domain}.?numa.orValue(0) + 1",
            f"{domain}.?ecc.orValue(false)",
            "device.driver",
            f"has({domain}.version)",
            'semver("1.0.0")',
            'device.attributes["resource.kubernetes.io"].?pcieRoot.orValue("none")',
        ]
        if "lists" in self.topics:
            sound += [f"{domain}.?numas.orValue([5])", '["p", device.driver]', "[1, 2]"]
        failing = [f"{domain}.model", f"{domain}.numa", "device.capacity", "1 +", 'device.attributes["b.example.com"].version']
        return rng.choice(sound) if rng.random() < 0.85 else rng.choice(failing)

    def toleration(self) -> dict[str, Any]:
        rng = self.rng
        toleration: dict[str, Any] = {}
        if rng.random() < 0.8:
            toleration["key"] = rng.choice(("example.com/sick", "example.com/old"))
        toleration["operator"] = rng.choice(("Exists", "Exists", "Equal", ""))
        if toleration["operator"] in ("Equal", "") and rng.random() < 0.7:
            toleration["value"] = rng.choice(("yes", "no"))
        if rng.random() < 0.5:
            toleration["effect"] = rng.choice(("NoSchedule", "NoExecute", "None"))
        if rng.random() < 0.1:
            toleration["tolerationSeconds"] = 30
        if self.strange("tolerations", 0.3):
            toleration["operator"] = "Like"
        return toleration

    def constraint(self, references: list[str]) -> dict[str, Any]:
        rng = self.rng
        names = [
            "a.example.com/model",
            "a.example.com/numa",
            "b.example.com/model",
            STANDARD_ROOT,
            "a.example.com/version",
            "a.example.com/ecc",
        ]
        if "lists" in self.topics:
            names += ["a.example.com/roots", "a.example.com/numas", "b.example.com/roots", "a.example.com/flags"] * 2
        if "derived" in self.topics:
            names += ["derived/x", "derived/y", STANDARD_ROOT] * 3
        constraint: dict[str, Any] = {rng.choice(("matchAttribute", "distinctAttribute")): rng.choice(names)}
        if rng.random() < 0.5:
            constraint["requests"] = rng.sample(references, rng.randint(1, min(3, len(references))))
        if self.strange("constraints", 0.5):
            constraint |= {"matchAttribute": rng.choice(names), "distinctAttribute": rng.choice(names)}
        if self.strange("constraints", 0.15):
            constraint.pop("matchAttribute", None)
            constraint.pop("distinctAttribute", None)
        return constraint

    def opaque(self, tag: str) -> dict[str, Any]:
        return {"opaque": {"driver": self.rng.choice(DRIVERS), "parameters": {"tag": tag}}}

    def claim_config(self, references: list[str], index: int) -> dict[str, Any]:
        config = self.opaque(f"claim-{index}")
        if references and self.rng.random() < 0.7:
            config["requests"] = self.rng.sample(references, self.rng.randint(1, len(references)))
        return config

    # --- what is taken already ---------------------------------------------------------------------------------------------------

    def allocations(self) -> dict[str, Any]:
        rng = self.rng
        devices = self.published
        if not devices or rng.random() < 0.2:
            # Also what is not there any more.
            devices = [
                (*pool, f"{kind}{index}-{number}")
                for pool in self.pools
                for kind in "dm"
                for index in range(3)
                for number in range(4)
            ]
        results = []
        for driver, pool, device in rng.sample(devices, min(len(devices), rng.choice((1, 2, 3, 5, 8)))):
            result: dict[str, Any] = {"request": "r", "driver": driver, "pool": pool, "device": device}
            if rng.random() < 0.15:
                result["adminAccess"] = True
            if ("sharing" in self.topics or "fractions" in self.topics) and rng.random() < 0.7:
                self.shares += 1
                result["shareID"] = f"00000000-0000-4000-8000-{self.shares:012d}"
                if rng.random() < 0.8:
                    result["consumedCapacity"] = {
                        "memory": rng.choice(("5Gi", "10Gi", "500m", "1")),
                        "cores": rng.choice(("10", "30", "500m")),
                    }
            results.append(result)
        claim = {
            "metadata": {"name": "earlier", "namespace": "ns", "uid": "uid-earlier"},
            "spec": {
                "devices": {
                    "requests": [{"name": "r", "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}}]
                }
            },
            "status": {"allocation": {"devices": {"results": results}}},
        }
        if rng.random() < 0.7:
            return {"allocatedClaims": [claim]}
        state: dict[str, Any] = {"allocatedDevices": [], "allocatedSharedDevices": [], "consumedCapacity": []}
        for result in results:
            reference = {key: result[key] for key in ("driver", "pool", "device")}
            if "shareID" not in result:
                state["allocatedDevices"].append(reference)
                continue
            if rng.random() < 0.6:
                state["allocatedSharedDevices"].append(reference | {"shareID": result["shareID"]})
            if "consumedCapacity" in result:
                state["consumedCapacity"].append(reference | {"capacity": result["consumedCapacity"]})
        return {"allocatedState": state}


def _move(spec: dict[str, Any], where: dict[str, Any]) -> None:
    for key in ("nodeName", "allNodes", "nodeSelector"):
        spec.pop(key, None)
    spec |= where


def _cel(expression: str) -> dict[str, Any]:
    return {"cel": {"expression": expression}}


def make(seed: int | str, number: int) -> Problem:
    """Problem `number` of a seed: each topic alone, each pair, some at random, most, or all, in turn."""
    rng = random.Random(f"{seed}/{number}")
    return {"id": f"{seed}/{number}"} | Maker(rng, topics_of(rng, number)).problem()


PAIRS = tuple(combinations(TOPICS, 2))


def topics_of(rng: random.Random, number: int) -> tuple[str, ...]:
    """What problem `number` is about, as far as that is not left to chance: a topic alone, a pair, or (all or some) many."""
    match number % 8:
        case 0:
            return (TOPICS[number // 8 % len(TOPICS)],)
        case 1 | 2 | 3:
            return PAIRS[(number // 8 * 3 + number % 8 - 1) % len(PAIRS)]
        case 4 | 5 | 6:
            return tuple(rng.sample(TOPICS, rng.randint(3, 8)))
        case _ if number % 64 == 63:
            return TOPICS
        case _:
            rare = ("many", "contradictions", "broken-pools", "all", "operations", "taints")
            return tuple(topic for topic in TOPICS if rng.random() < (0.15 if topic in rare else 0.85))


# --- a small problem out of a large one -------------------------------------------------------------------------------------------

_KEEP = {
    "metadata",
    "name",
    "spec",
    "devices",
    "pool",
    "driver",
    "features",
    "variants",
    "timeoutMillis",
    "id",
    "resourceSliceCount",
    "generation",
}


def removable(problem: Problem) -> Iterator[tuple[Any, ...]]:
    """What may be left out of a problem, which remains one."""
    return _paths(problem, ())


def _paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, list):
        for index in range(len(value)):
            yield (*path, index)
        for index, entry in enumerate(value):
            yield from _paths(entry, (*path, index))
    elif isinstance(value, dict):
        for key in value:
            if key not in _KEEP and not (len(path) == 0 and key in ("slices", "classes", "claims", "node", "nodes")):
                yield (*path, key)
        for key, entry in value.items():
            if key not in ("features", "variants"):
                yield from _paths(entry, (*path, key))
