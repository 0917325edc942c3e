"""Breaks the allocator on purpose, one rule at a time, and shows which test notices: python scripts/mutations.py [WORD…]

A mutation replaces one piece of text in a copy of `src`; nothing in the checkout changes. Then the quick tests run on the copy
until one fails. Printed is a table for docs/testing.md: what was broken, and the test that went red. The script fails if a mutation
survives, or if the text that it replaces is not there (any more): then the mutation has to be written anew, for the rule has moved.
With WORDs only mutations run of which the description contains one. Takes a few minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("reparto") / "allocation"
WORKERS = 2
PATIENCE = 900
"""Seconds for the tests of one mutation. They take a tenth of that; a search that never ends is red, too."""

UNIT = (
    "tests/unit/test_allocation_taints.py",
    "tests/unit/test_allocation_constraints.py",
    "tests/unit/test_allocation_counters.py",
    "tests/unit/test_allocation_capacity.py",
    "tests/unit/test_allocation_results.py",
    "tests/unit/test_allocation_state.py",
    "tests/unit/test_allocation_pools.py",
    "tests/unit/test_allocation_search.py",
)
QUICK = (
    *UNIT,
    "tests/property/test_allocated_state.py",
    "tests/property/test_allocation_agreement.py",
    "tests/property/test_hard_problems.py",
)
EVENTS = ("tests/property/test_event_independence.py",)


@dataclass(frozen=True)
class Mutation:
    """`before` stands once in the module and becomes `after`; `tests` are run until one fails."""

    says: str
    module: str
    before: str
    after: str
    tests: tuple[str, ...] = QUICK


MUTATIONS = (
    # --- what a node sees ---
    Mutation(
        "the oldest generation of a pool counts, not the newest (3.3.4)",
        "pools.py",
        "if kept and published.generation > kept[0].generation:",
        "if kept and published.generation < kept[0].generation:",
    ),
    Mutation(
        "a pool whose newer generation is on other nodes is still used (3.3.5)",
        "pools.py",
        "if any(published.generation > kept[0].generation for published in everywhere):",
        "if not everywhere:",
    ),
    Mutation(
        "a pool of which slices are missing is complete (3.3.5)", "pools.py", "if len(whole) != wanted:", "if len(whole) > wanted:"
    ),
    Mutation(
        "pools with binding conditions come where their name is (3.3.7)",
        "pools.py",
        "return pool.binding_conditions, pool.id",
        "return False, pool.id",
    ),
    # --- the search ---
    Mutation(
        "a claim may hold 31 devices only (3.5)",
        "search.py",
        "elif alternative.need - picked > MAX_DEVICES - held[claim]:",
        "elif alternative.need - picked >= MAX_DEVICES - held[claim]:",
    ),
    Mutation(
        "the next device of a request is looked for from the first one on: permutations (3.5)",
        "search.py",
        "frames.append(frame)\n                        picked, position = picked + 1, frame.position",
        "frames.append(frame)\n                        picked, position = picked + 1, 0",
    ),
    Mutation(
        "a device that this attempt has taken is free (3.8.1)",
        "search.py",
        "elif record.number in holders or in_use(record.id, consumable):",
        "elif in_use(record.id, consumable):",
    ),
    Mutation(
        "a device given back keeps its counters (3.8.8)",
        "search.py",
        "change[1].give_back(change[2])",
        "change[1].short_of(change[2])",
    ),
    Mutation("a device given back stays in its constraints (3.8.8)", "search.py", "change[1].remove()", "change[1].source"),
    Mutation(
        "a share given back keeps its capacity (3.8.8)",
        "search.py",
        "for name, amount in draw.amounts.items():\n                    held[name] -= amount.nano",
        "for name, amount in draw.amounts.items():\n                    held[name] -= 0",
    ),
    Mutation(
        "a further share of a device pays its counters again (3.8.4)",
        "search.py",
        "if not already_paid and not self._draw_on_pool(pool, record):",
        "if not self._draw_on_pool(pool, record):",
    ),
    Mutation(
        "two admin requests of a claim get one device (3.13)",
        "search.py",
        "if claim in holders.get(record.number, ()):\n                    continue",
        "if claim in holders.get(-1, ()):\n                    continue",
    ),
    Mutation(
        "the whole attempt: one device more than there are would do (3.5)",
        "feasibility.py",
        "kept = [option for option in options if _most(option, option.mask) >= option.need]",
        "kept = [option for option in options if _most(option, option.mask) > option.need]",
    ),
    Mutation(
        "the whole attempt: values of which one device is missing count (3.9)",
        "feasibility.py",
        "_most(option, option.mask & positions) >= option.need:",
        "_most(option, option.mask & positions) > option.need:",
    ),
    # --- constraints, counters, capacity, taints ---
    Mutation(
        "matchAttribute compares values, not types (3.9)",
        "constraints.py",
        "return value is not None and value == self._value",
        "return value is not None and self._value is not None and value[1] == self._value[1]",
    ),
    Mutation(
        "distinctAttribute compares with the latest device only (3.9)",
        "constraints.py",
        "value in self._scalars)",
        "value in self._scalars[-1:])",
    ),
    Mutation(
        "an over-drawn counter blocks only those that use it (3.10)",
        "counters.py",
        "self._overdrawn = [name for name, amount in left.items() if amount < 0]",
        "self._overdrawn: list[CounterName] = []",
    ),
    Mutation(
        "allocated devices of other nodes draw on no counters (3.10)",
        "pools.py",
        "self._consuming = {}\n            for record in (*self.devices, *self.elsewhere):",
        "self._consuming = {}\n            for record in self.devices:",
    ),
    Mutation(
        "the last unit of a capacity cannot be had (3.11)",
        "capacity.py",
        "+ amount.nano > self.limits[name]",
        "+ amount.nano >= self.limits[name]",
    ),
    Mutation(
        "NoExecute does not keep requests away (3.12)",
        "taints.py",
        '_PREVENTS_ALLOCATION = ("NoSchedule", "NoExecute")',
        '_PREVENTS_ALLOCATION = ("NoSchedule",)',
    ),
    Mutation(
        "a toleration covers all effects, whichever it names (3.12)",
        "taints.py",
        "if toleration.effect and toleration.effect != taint.effect:",
        "if not toleration.effect and not taint.effect:",
    ),
    # --- results ---
    Mutation(
        "configuration of the claim comes before that of the class (3.14)",
        "results.py",
        "    return entries\n",
        '    return sorted(entries, key=lambda entry: entry.source != "FromClaim")\n',
    ),
    Mutation(
        "the node selector is that of the first device, not of all (3.14)",
        "results.py",
        "for pick in picks:\n        where = ",
        "for pick in picks[:1]:\n        where = ",
    ),
    # --- what is taken, and events ---
    Mutation(
        "a released share keeps its capacity (3.1)",
        "state.py",
        "self._release(identity, _amounts(result))",
        "self._release(identity, {})",
    ),
    Mutation(
        "a released device stays taken (3.1)",
        "state.py",
        "            if not holders[identity]:\n                del holders[identity]\n",
        "",
    ),
    Mutation(
        "a pool that was gathered is not gathered again when its slices change",
        "pools.py",
        "for name in touched:\n            self._gathered.pop(name, None)",
        "for name in touched:\n            self._gathered.get(name)",
        EVENTS,
    ),
)


def main() -> int:
    """Runs the mutations that the command line names."""
    parser = argparse.ArgumentParser(description="Break the allocator on purpose and see which test notices.")
    parser.add_argument("words", nargs="*", help="only mutations whose description contains one of these")
    words = parser.parse_args().words
    chosen = [each for each in MUTATIONS if not words or any(word in each.says for word in words)]
    for mutation in chosen:
        broken(mutation)
    with tempfile.TemporaryDirectory(prefix="reparto-mutations-") as folder:
        print("the unbroken copy", flush=True)
        whole = copied(Path(folder) / "whole")
        red = first_failure(whole, tuple(dict.fromkeys(test for mutation in chosen for test in mutation.tests)))
        if red:
            print(f"fails already: {red}; mend that first", file=sys.stderr)
            return 2
        with ThreadPoolExecutor(WORKERS) as workers:
            notices = list(workers.map(lambda pair: tried(Path(folder) / str(pair[0]), pair[1]), enumerate(chosen)))
    print("\n| broken | notices |\n| --- | --- |")
    for mutation, notice in zip(chosen, notices, strict=True):
        print(f"| {mutation.says} | {notice or '**nothing**'} |")
    survivors = sum(not notice for notice in notices)
    print(f"\n{len(chosen) - survivors} of {len(chosen)} mutations turn a test red")
    return 1 if survivors else 0


def copied(folder: Path) -> Path:
    """A copy of the sources."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "src"


def broken(mutation: Mutation) -> str:
    """The text of the module with the mutation in it."""
    text = (ROOT / "src" / PACKAGE / mutation.module).read_text()
    if text.count(mutation.before) != 1:
        raise SystemExit(
            f"{mutation.module} has {text.count(mutation.before)} times what “{mutation.says}” replaces, and must have it once:\n"
            f"  {mutation.before}\nrewrite the mutation in {Path(__file__).name} for the rule as it stands now"
        )
    return text.replace(mutation.before, mutation.after)


def tried(folder: Path, mutation: Mutation) -> str:
    """The test that notices the mutation, as docs/testing.md names it; empty if none does."""
    source = copied(folder)
    (source / PACKAGE / mutation.module).write_text(broken(mutation))
    notice = first_failure(source, mutation.tests)
    print(f"{mutation.says}: {notice or 'NOTHING NOTICES'}", flush=True)
    shutil.rmtree(folder)
    return notice


def first_failure(source: Path, tests: tuple[str, ...]) -> str:
    """The first test that fails with these sources; empty if all pass."""
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{ROOT / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1"}
    where = [sys.executable, "-c", "import reparto; print(reparto.__file__)"]
    found = subprocess.run(where, env=environment, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not found.startswith(str(source)):
        raise SystemExit(
            f"the copy in {source} is not what gets imported, but {found.strip()!r}: run this with the Python of .venv"
        )
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", *tests]
    try:
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"the tests do not end in {PATIENCE} s"
    if done.returncode == 0:
        return ""
    named = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+?)(?:\[.*?\])?(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode != 1 or named is None:
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    file, _, test = named.group(1).partition("::")
    return f"`{Path(file).name}`: {test.replace('_', ' ').removeprefix('test ')}"


if __name__ == "__main__":
    sys.exit(main())
