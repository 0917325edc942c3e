"""Random CEL: our compiler and evaluators against Kubernetes' own.

For each expression the verdict of compilation, its class of error, output type and estimated cost; for each device the verdict
or class of error and the actual cost, from the exact evaluator and (without cost) from the fast one. No difference is allowed,
in cost neither.

    REPARTO_SEED=7 REPARTO_PROBLEMS=50000 make conformance ARGS='-k random_expressions'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from conformance import cel_answers as answers
from conformance.cel_devices import Device, random_device, smaller_devices
from conformance.cel_expressions import Generator
from conformance.cel_trees import Expr
from conformance.oracle import Oracle, allocation
from conformance.scale import amount

#: Expression × device pairs in all, and how many of them in one test.
PAIRS = amount(24_000)
CHUNK = 3000
DEVICES = 3
#: How often Kubernetes is asked again before a difference counts, for evaluation may follow random map order.
EVALUATIONS = 100
#: How many orders of a device's attributes are tried where it did answer differently: from one order, Go reaches only some others.
ORDERS = 60


@dataclass(frozen=True)
class Problem:
    """An expression under one environment, and devices."""

    tree: Expr
    devices: tuple[Device, ...]
    derived: bool
    stored: bool
    consumable_capacity: bool
    list_type_attributes: bool

    def question(self, evaluations: int = 1) -> dict[str, Any]:
        return {
            "features": {"consumable_capacity": self.consumable_capacity, "list_type_attributes": self.list_type_attributes},
            "selector": {
                "expression": self.tree.text,
                "environment": "StoredExpressions" if self.stored else "NewExpressions",
                "derived": self.derived,
                "devices": list(self.devices),
                "evaluations": evaluations,
            },
        }


@dataclass(frozen=True)
class Difference:
    """What we answer otherwise than Kubernetes, and where."""

    kind: str
    ours: Any
    theirs: Any
    device: Device | None = None


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with allocation() as running:
        yield running


def problems(seed: str, pairs: int) -> Iterator[Problem]:
    """Problems with as many pairs as wanted. Neighbours share the features: switching them costs the reference a millisecond."""
    random = Random(seed)
    count = 0
    while count < pairs:
        consumable, lists = random.random() < 0.7, random.random() < 0.5
        stored = random.random() < 0.6
        for _ in range(50):
            derived = random.random() < 0.15
            generator = Generator(random)
            tree = generator.derived() if derived else generator.selector()
            devices = tuple(random_device(random) for _ in range(DEVICES))
            yield Problem(tree, devices, derived, stored, consumable, lists)
            count += DEVICES
            if count >= pairs:
                break


def differences(problem: Problem, answer: dict[str, Any]) -> Iterator[Difference]:
    """Compares our answers with one of the oracle."""
    program, compiled = answers.our_program(problem.question())
    theirs = answers.their_compiled(answer)
    kind = answers.compile_difference(compiled, theirs)
    if kind:
        yield Difference(kind, compiled, theirs)
    if program is None or theirs.error:
        return
    for device, outcome in zip(problem.devices, answer["selector"]["outcomes"], strict=True):
        expected = answers.their_outcomes(outcome)
        exact = answers.our_outcome(program, device)
        kind = answers.outcome_difference(exact, expected)
        if kind:
            yield Difference(kind, exact, expected, device)
        if problem.derived:
            continue
        fast = answers.our_match(program, device)
        if (fast.value, fast.error) != (exact.value, exact.error):
            yield Difference("fast evaluator", fast, exact, device)


def settled(oracle: Oracle, problem: Problem) -> list[Difference]:
    """The differences that remain when Kubernetes has been asked often enough to have shown its random answers."""

    answer = oracle.ask(problem.question(EVALUATIONS))
    found = list(differences(problem, answer))
    if not found or not any("alternatives" in outcome for outcome in answer.get("selector", {}).get("outcomes", [])):
        return found
    random = Random(0)
    for _ in range(ORDERS):
        other = replace(problem, devices=tuple(in_another_order(random, device) for device in problem.devices))
        more = oracle.ask(other.question(EVALUATIONS))["selector"]["outcomes"]
        for outcome, seen in zip(answer["selector"]["outcomes"], more, strict=True):
            outcome.setdefault("alternatives", []).extend((seen, *seen.pop("alternatives", ())))
    return list(differences(problem, answer))


def lasting(oracle: Oracle, problem: Problem) -> list[Difference]:
    """The differences that are there each of three times: an answer of Kubernetes that is random may hide for a while."""
    found: list[Difference] = []
    for _ in range(3):
        found = settled(oracle, problem)
        if not found:
            break
    return found


def in_another_order(random: Random, device: Device) -> Device:
    """The same device, its attributes and capacities written in another order."""
    shuffled = {part: random.sample(list(device[part].items()), len(device[part])) for part in ("attributes", "capacity")}
    return {**device, **{part: dict(items) for part, items in shuffled.items()}}


def shrunk(oracle: Oracle, problem: Problem, kind: str) -> Problem:
    """The smallest problem found that still shows this kind of difference."""

    def shows(candidate: Problem) -> bool:
        return any(difference.kind == kind for difference in settled(oracle, candidate))

    budget = 400
    improved = True
    while improved and budget > 0:
        improved = False
        for candidate in smaller(problem):
            budget -= 1
            if shows(candidate):
                problem, improved = candidate, True
                break
            if budget <= 0:
                break
    return problem


def smaller(problem: Problem) -> Iterator[Problem]:
    """Problems with one device, a smaller expression or a smaller device, the boldest first."""
    if len(problem.devices) > 1:
        for device in problem.devices:
            yield replace(problem, devices=(device,))
    seen = {problem.tree.text}
    for tree in problem.tree.replaced():
        if tree.text not in seen:
            seen.add(tree.text)
            yield replace(problem, tree=tree)
    if len(problem.devices) == 1:
        for device in smaller_devices(problem.devices[0]):
            yield replace(problem, devices=(device,))


@pytest.mark.reference
@pytest.mark.parametrize("chunk", range(max(1, PAIRS // CHUNK)))
def test_random_expressions_are_judged_as_kubernetes_judges_them(
    chunk: int, seed: str, oracle: Oracle, write_failure: Callable[[Any], Path]
):
    asked = list(problems(f"{seed}/{chunk}", min(PAIRS, CHUNK)))
    found: list[str] = []
    for problem, answer in zip(asked, oracle.ask_many(problem.question() for problem in asked), strict=True):
        if not any(differences(problem, answer)):
            continue
        remaining = lasting(oracle, problem)
        if not remaining:
            continue
        kind = remaining[0].kind
        smallest = shrunk(oracle, problem, kind)
        difference = next((difference for difference in settled(oracle, smallest) if difference.kind == kind), None)
        if difference is None:  # shrunk to something whose answer is random: show it as it was found
            smallest, difference = problem, remaining[0]
        path = write_failure(
            {
                "kind": kind,
                "question": smallest.question(),
                "device": difference.device,
                "ours": difference.ours,
                "theirs": difference.theirs,
                "from": problem.tree.text,
            }
        )
        found.append(f"{kind}: {smallest.tree.text}\n    ours   {difference.ours}\n    theirs {difference.theirs}\n    {path}")
        if len(found) == 10:
            break
    assert not found, f"seed {seed}, chunk {chunk}: {len(found)} differences\n" + "\n".join(found)


def test_the_generator_reaches_the_whole_dialect():
    """A generator that has stopped to draw a function would let the comparison pass without it."""
    random = Random("coverage")
    text = "\n".join(Generator(random).selector().text for _ in range(4000))
    wanted = """
        has( .all( .exists( .exists_one( .existsOne( .map( .filter( .transformList( .transformMap( .transformMapEntry(
        cel.bind( .? [? {? optional.of( optional.ofNonZeroValue( .optMap( .optFlatMap( .orValue( .or( .hasValue() .first()
        .last() .value() .contains( .startsWith( .endsWith( .matches( .charAt( .indexOf( .lastIndexOf( .join( .lowerAscii()
        .upperAscii() .replace( .split( .substring( .trim() .format( strings.quote( .isSorted() .sum() .min() .max()
        .includes( .slice( .flatten( .distinct() .sort() .sortBy( .reverse() lists.range( sets.contains( sets.equivalent(
        sets.intersects( .find( .findAll( url( isURL( .getScheme() .getHost() .getHostname() .getPort() .getEscapedPath()
        .getQuery() ip( isIP( ip.isCanonical( .family() .isLoopback() .isGlobalUnicast() cidr( isCIDR( .containsIP(
        .containsCIDR( .masked() .prefixLength() format.named( format.dns1123Label() .validate( quantity( isQuantity(
        .isGreaterThan( .isLessThan( .compareTo( .add( .sub( .asInteger() .isInteger() .asApproximateFloat() sign( semver(
        isSemver( .major() duration( timestamp( .getFullYear( .getHours( int( uint( double( string( bytes( bool( dyn( type(
        size( device.driver device.attributes device.capacity device.allowMultipleAllocations && || ! ? in
    """
    missing = [word for word in wanted.split() if word not in text]
    assert not missing
