"""None means that there is none, and what is returned is the first there is: held against an enumeration of all assignments."""

import pytest

from property import brute_force, small_problems
from property.legality import allocated, assert_legal
from reparto.allocation import AllocatedState, Allocator
from reparto.allocation.plain import PlainAllocator
from reparto.model.quantity import Quantity
from unit.allocation_objects import ALL_FEATURES, device_class, node

PROBLEMS = 6_000
PARTS = 4


def answer(engine, problem, **settings):
    """What the engine allocates, or None. That it is legal is checked, too."""
    published, held, asked = small_problems.slices(problem), small_problems.holders(problem), small_problems.claims(problem)
    state = AllocatedState.from_claims(held)
    allocator = engine(published, [device_class()], allocated=state, features=ALL_FEATURES, **settings)
    results = allocator.allocate(node(), asked)
    if results is not None:
        assert_legal(published, [device_class()], held, allocated(asked, results), [node()], features=ALL_FEATURES)
    return results


def listed(results):
    """Per device: claim, request, pool, device, memory."""
    return results and [
        (number, result.request, result.pool, result.device, _memory(result.consumed_capacity))
        for number, allocation in enumerate(results)
        for result in allocation.devices.results
    ]


def _memory(consumed):
    return None if consumed is None else Quantity.parse(consumed["memory"]).value()


def expected(problem):
    """The same from the enumeration."""
    picks = brute_force.first(problem)
    return picks and [
        (
            pick.claim,
            pick.reference,
            pick.gpu.pool,
            pick.gpu.name,
            brute_force.amount(pick.ask, pick.gpu) if pick.gpu.shared and pick.gpu.memory is not None else None,
        )
        for pick in picks
    ]


@pytest.mark.parametrize("part", range(PARTS))
def test_the_answer_is_the_first_legal_assignment_or_there_is_none(part, seed):
    none = 0
    for number in range(part, PROBLEMS, PARTS):
        problem = small_problems.make(f"small/{seed}", number)
        right = expected(problem)
        none += right is None
        assert listed(answer(Allocator, problem)) == right, f"problem {number} (REPARTO_SEED={seed}): {problem}"
    assert 0.1 < none / (PROBLEMS / PARTS) < 0.9  # both answers are tested


def test_the_plain_allocator_is_as_complete(seed):
    for number in range(400):
        problem = small_problems.make(f"small/{seed}", number)
        assert listed(answer(PlainAllocator, problem)) == expected(problem), f"problem {number} (REPARTO_SEED={seed}): {problem}"


def test_best_fit_places_what_can_be_placed(seed):
    for number in range(1_500):
        problem = small_problems.make(f"small/{seed}", number)
        results = answer(Allocator, problem, policy="best-fit")
        assert (results is None) == (brute_force.first(problem) is None), f"problem {number} (REPARTO_SEED={seed}): {problem}"


# --- the enumeration itself, on what can be counted by hand -----------------------------------------------------------------------


def gpus(*models, **fields):
    return tuple(brute_force.Gpu("a", f"d{index}", model, frozenset((index,)), **fields) for index, model in enumerate(models))


def problem_of(devices, *requests, constraints=(), counters=(9, 9)):
    return brute_force.Problem(devices, {"a": counters}, claims=(brute_force.Claim(requests, constraints),))


def chosen(problem):
    picks = brute_force.first(problem)
    return picks and [pick.gpu.name for pick in picks]


def test_two_of_four_devices_can_be_chosen_in_six_ways_the_first_being_the_first_two():
    problem = problem_of(gpus(*"xxxx"), brute_force.Ask(2))
    assert brute_force.size(problem) == 6
    assert chosen(problem) == ["d0", "d1"]


def test_an_earlier_request_keeps_the_earlier_device_as_long_as_the_later_ones_are_served():
    anything, only_x = brute_force.Ask(1), brute_force.Ask(1, model="x")
    assert chosen(problem_of(gpus("x", "y"), anything, only_x)) == ["d1", "d0"]
    assert chosen(problem_of(gpus("y", "x", "x"), anything, only_x)) == ["d0", "d1"]


def test_the_first_alternative_is_taken_even_if_it_takes_later_devices():
    alternatives = (brute_force.Ask(1, model="y"), brute_force.Ask(1, model="x"))
    assert chosen(problem_of(gpus("x", "y"), alternatives)) == ["d1"]


def test_counters_and_constraints_leave_no_assignment():
    drawing = gpus("x", "x", draws=(2, 0))
    assert chosen(problem_of(drawing, brute_force.Ask(2), counters=(4, 0))) == ["d0", "d1"]
    assert chosen(problem_of(drawing, brute_force.Ask(2), counters=(3, 0))) is None
    alike = brute_force.Constraint(match=True, attribute="numa")
    assert chosen(problem_of(gpus("x", "x"), brute_force.Ask(2), constraints=(alike,))) is None
