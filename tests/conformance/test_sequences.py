"""Through everything that happens to a cluster, we allocate what Kubernetes allocates: random sequences of events.

An allocator that has lived through a sequence is asked what Kubernetes' is, which sees the cluster for the first time every time.
After each allocation `verify` judges it, and now and then all that was kept is compared with what there is.

REPARTO_SEED picks other sequences, `conformance.scale` says how many (200 in CI). On a difference, `build/failures/` has the
problem in question, if a new allocator gets it wrong, too; otherwise the sequence up to there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import allocation_answers as answers
from conformance import sequences
from conformance.figures import Figures
from conformance.oracle import Oracle
from conformance.oracle import allocation as oracle
from conformance.scale import amount, part_name, parts
from reparto.allocation import Allocator

pytestmark = pytest.mark.reference

SEQUENCES = amount(200)

CHANGES = {
    "put_slice": "slices published or changed",
    "remove_slice": "slices deleted",
    "put_rule": "taint rules made or changed",
    "remove_rule": "taint rules deleted",
    "put_class": "classes changed",
    "remove_class": "classes deleted",
}
"""What else happens, by the kind of event."""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Oracle]:
    with oracle() as running:
        yield running


def differ(upstream: answers.Answer, ours: answers.Answer) -> bool:
    if answers.timed_out(upstream) or answers.timed_out(ours):
        return False
    return answers.comparable(upstream) != answers.comparable(ours)


def report(
    sequence: sequences.Sequence, question: sequences.Question, upstream: answers.Answer, write_failure: Callable[[Any], Path]
) -> str:
    """Save a difference, and say where it is."""
    anew = answers.ask(Allocator, question.problem)
    story = {} if differ(upstream, anew) else {"sequence": sequence | {"events": sequence["events"][: question.event + 1]}}
    path = write_failure({"problem": question.problem, "upstream": upstream, "ours": question.ours, "anew": anew} | story)
    return f"{question.problem['id']}, event {question.event}: {path}\n  upstream: {upstream}\n  ours:     {question.ours}"


@pytest.mark.parametrize("numbers", parts(SEQUENCES, 10), ids=part_name)
def test_an_allocator_that_lives_through_events_answers_as_kubernetes_does(
    upstream: Oracle, numbers: range, seed: str, write_failure: Callable[[Any], Path], figures: Figures
) -> None:
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    for number in numbers:
        sequence = sequences.make(seed, number)
        replay = sequences.Replay(sequence)
        try:
            questions = list(replay.play())
        except Exception:
            write_failure(sequence)
            raise
        found = list(upstream.ask_many(question.problem for question in questions))
        for question, answer in zip(questions, found, strict=True):
            assert answer["kind"] not in ("invalid", "panic"), f"{question.problem['id']}: {answer.get('error')}"
            counts[f"answers {answer['kind']}"] += 1
            counts["undecided"] += answers.timed_out(answer) or answers.timed_out(question.ours)
        different = [pair for pair in zip(questions, found, strict=True) if differ(pair[1], pair[0].ours)]
        counts["claims released"] += replay.released
        counts["pods"] += sum("pod" in event for event in sequence["events"])
        counts.update(CHANGES[kind] for event in sequence["events"] for kind in event if kind in CHANGES)
        if different:
            wrong.append(report(sequence, *different[0], write_failure))
    figures.add("sequences of events", asked=len(numbers), differences=len(wrong), **counts)
    assert not wrong, f"seed {seed}:\n" + "\n".join(wrong[:3])
    if len(numbers) >= 10:
        # The sequences must be worth asking: devices come and go all the time, and nearly everything is decided.
        assert counts["claims released"] * 10 >= counts["pods"]
        # A chunk of ten sequences may hold several in which hardly anything fits; a quarter to a third is usual.
        assert counts["answers allocated"] * 12 >= counts["pods"]
        assert all(counts[what] for what in CHANGES.values())
        assert counts["undecided"] * 20 <= counts["pods"]


def test_the_same_seed_makes_the_same_sequence() -> None:
    assert sequences.make(3, 8) == sequences.make(3, 8) != sequences.make(4, 8)


def test_a_claim_that_is_forgotten_too_early_is_noticed(upstream: Oracle) -> None:
    class Forgetful(sequences.Replay):
        def _hold(self, *arguments: Any) -> None:
            super()._hold(*arguments)
            self.state.remove(next(claim for _, claim in self.held.values()))

        def _assert_same_as_rebuilt(self) -> None:
            return

    def noticed(sequence: sequences.Sequence) -> bool:
        try:
            questions = list(Forgetful(sequence).play())
        except AssertionError:
            return True  # by the checker
        found = upstream.ask_many(question.problem for question in questions)
        return any(differ(answer, question.ours) for question, answer in zip(questions, found, strict=True))

    assert noticed(sequences.make("fixed", 0))
