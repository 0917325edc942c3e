"""Many published devices as rows, asked at once.

A column holds, for one part of a device that some expression can see, a small number per row: equal numbers, equal content. An
expression is then evaluated once for each combination of numbers that occurs among its columns, on one device that has it, and the
answers are spread over the rows by array operations: a few dozen evaluations for a hundred thousand GPUs. Where there are many
combinations of few contents, the clauses of an expression are asked one by one. Where every device is different (a comparison of
UUIDs) it is one evaluation a device, as it would be without columns.

Nothing here raises what an expression fails with: an error is the answer of a row. Columns are made when an expression first needs
them, and brought up to date with every device that is added, replaced or removed. Import this module only where thousands of
devices are asked about: numpy takes longer to load than most commands take to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reparto.cel.dependencies import Dependency
from reparto.cel.device import Device
from reparto.cel.errors import CompileError
from reparto.cel.program import EvaluationError, Program, compile
from reparto.cel.projection import Key, Projection, Reader, Soundness, reader_of, view_of
from reparto.model import v1

Codes: TypeAlias = NDArray[np.int64]

FALSE: Final = 0
TRUE: Final = 1
FAILED: Final = 2
GONE: Final = 3
"""Verdict of a row from which the device was removed."""

_ASKED: Final = 1
_NOT_ASKED: Final = 0
"""The code of rows without a device, and of devices that every expression fails on."""
_FEW: Final = 64
"""Evaluations that are not worth compiling clauses for."""
_SMALL: Final = 65_536
"""Combinations up to which a table of all is cheaper than sorting, however few the rows."""


class Answers:
    """What an expression says of each row, as of the moment when it was asked.

    `verdicts` has one of FALSE, TRUE, FAILED and GONE per row; `evaluations` is how often the expression was evaluated.
    """

    def __init__(
        self, verdicts: NDArray[np.uint8], combinations: Codes, failures: dict[int, EvaluationError], evaluations: int
    ) -> None:
        self.verdicts = verdicts
        self.evaluations = evaluations
        self._combinations = combinations
        self._failures = failures

    def matching(self) -> list[int]:
        """The rows for which the expression is true, in order."""
        return np.flatnonzero(self.verdicts == TRUE).tolist()

    def answer(self, row: int) -> bool | EvaluationError:
        """True, false, or why there is no answer. Raises LookupError for a row without a device."""
        match int(self.verdicts[row]):
            case 0 | 1 as verdict:
                return verdict == TRUE
            case 2:
                return self._failures[int(self._combinations[row])]
            case _:
                raise _no_device(row)


class _Codes:
    """A number per row, in an array that grows."""

    def __init__(self, codes: list[int]) -> None:
        self.array: Codes = np.array(codes or [0], dtype=np.int64)

    def __setitem__(self, row: int, code: int) -> None:
        if row >= len(self.array):
            self.array = np.concatenate((self.array, np.zeros(max(len(self.array), row), dtype=np.int64)))
        self.array[row] = code


class _Column:
    """The codes of one dependency; `size` is one more than the highest."""

    def __init__(self, dependency: Dependency, devices: Iterable[tuple[str, v1.Device] | None]) -> None:
        self._dependency = dependency
        self._readers: dict[str, Reader] = {}
        self._code_of: dict[Key, int] = {}
        self.codes = _Codes([_NOT_ASKED if held is None else self.code(*held) for held in devices])

    @property
    def size(self) -> int:
        return _NOT_ASKED + 1 + len(self._code_of)

    def code(self, driver: str, device: v1.Device) -> int:
        """The number that stands for what the device has there, a new one if it is the first to have it."""
        reader = self._readers.get(driver)
        if reader is None:
            reader = self._readers[driver] = reader_of(self._dependency, driver)
        return self._code_of.setdefault(reader(device), _NOT_ASKED + 1 + len(self._code_of))


class Columns:
    """Devices by row. Rows of removed devices are used again.

    May be asked by several threads at once as long as none changes it.
    """

    def __init__(self) -> None:
        self._devices: list[tuple[str, v1.Device] | None] = []
        self._free: list[int] = []
        self._broken: set[int] = set()
        self._soundness = Soundness()
        self._asked = _Codes([])
        self._columns: dict[Dependency, _Column] = {}

    def __len__(self) -> int:
        """Rows, those without a device included."""
        return len(self._devices)

    def add(self, driver: str, device: v1.Device) -> int:
        """The row of a new device. Cost: its attributes, and the columns that exist."""
        if self._free:
            row = self._free.pop()
        else:
            row = len(self._devices)
            self._devices.append(None)
        self.replace(row, driver, device)
        return row

    def replace(self, row: int, driver: str, device: v1.Device) -> None:
        """Another device, or the same one published anew, in the place of one. Cost as for `add`."""
        self._devices[row] = (driver, device)
        if not self._soundness.holds(device):
            self._broken.add(row)
            self._do_not_ask(row)
            return
        self._broken.discard(row)
        self._asked[row] = _ASKED
        outgrown: list[Dependency] = []
        for dependency, column in self._columns.items():
            column.codes[row] = column.code(driver, device)
            if column.size > 2 * len(self._devices) + _SMALL:
                outgrown.append(dependency)
        for dependency in outgrown:
            # Most of its codes stand for what no device has any more. It is made anew when it is needed.
            del self._columns[dependency]

    def remove(self, row: int) -> None:
        """Take the device off a row. Raises LookupError if there is none. Cost: the columns that exist."""
        if self._devices[row] is None:
            raise _no_device(row)
        self._devices[row] = None
        self._broken.discard(row)
        self._free.append(row)
        self._do_not_ask(row)

    def _do_not_ask(self, row: int) -> None:
        self._asked[row] = _NOT_ASKED
        for column in self._columns.values():
            column.codes[row] = _NOT_ASKED

    def build(self, program: Program) -> None:
        """Make the columns that a selector needs. Cost: the rows, for each column that does not exist yet."""
        for dependency in program.dependencies:
            if dependency not in self._columns:
                asked = (None if row in self._broken else held for row, held in enumerate(self._devices))
                self._columns[dependency] = _Column(dependency, asked)

    def answers(self, program: Program) -> Answers:
        """What a selector says of every row.

        Cost: an array operation over the rows per column, and one evaluation per combination of contents that occurs, of the whole
        expression or of its clauses, whichever are fewer.
        """
        self.build(program)
        combinations, size = self._combined([self._columns[each] for each in program.dependencies])
        representatives = np.full(size, -1, dtype=np.int64)
        representatives[combinations] = np.arange(len(self._devices))
        representatives[_NOT_ASKED] = -1
        occurring = np.flatnonzero(representatives >= 0)
        verdict_of = np.full(size, GONE, dtype=np.uint8)
        evaluations = 0
        clauses = self._worthwhile_clauses(program, len(occurring))
        if clauses:
            decided = [self.answers(clause) for clause in clauses]
            evaluations = sum(each.evaluations for each in decided)
            verdict_of[occurring] = _conjunction([each.verdicts[representatives[occurring]] for each in decided])
            # Of several errors, or an error and a false, the whole expression knows which counts.
            occurring = occurring[verdict_of[occurring] == FAILED]
        failures: dict[int, EvaluationError] = {}
        view = Projection(program.dependencies).view
        asked: list[tuple[int, int]] = np.stack((occurring, representatives[occurring]), axis=1).tolist()
        for combination, row in asked:
            held = self._devices[row]
            assert held is not None  # it is asked
            verdict_of[combination] = _verdict(program, view(*held), combination, failures)
        verdicts = verdict_of[combinations]
        for row in self._broken:
            held = self._devices[row]
            assert held is not None
            # Each is a combination of its own.
            combinations[row] = -1 - row
            verdicts[row] = _verdict(program, view_of(*held), -1 - row, failures)
        return Answers(verdicts, combinations, failures, evaluations + len(occurring) + len(self._broken))

    def _worthwhile_clauses(self, program: Program, combinations: int) -> list[Program]:
        """The clauses of a selector as selectors, if they surely have fewer combinations than the whole; else none."""
        if combinations <= _FEW or len(program.clauses) == 1 or program.max_cost > program.options.cost_limit:
            return []
        try:
            clauses = [compile(clause.text, program.options) for clause in program.clauses]
        except CompileError:
            return []  # a clause need not be a selector by itself
        for clause in clauses:
            self.build(clause)
        alone = sum(
            min(prod(self._columns[each].size for each in clause.dependencies), len(self._devices)) + len(self._broken)
            for clause in clauses
        )
        return clauses if alone < combinations else []

    def _combined(self, columns: Sequence[_Column]) -> tuple[Codes, int]:
        """A number per row for its combination of codes, and one more than the highest; 0 for rows that are not asked."""
        rows = len(self._devices)
        few = max(4 * rows, _SMALL)
        combined, size = self._asked.array[:rows].copy(), _ASKED + 1
        for column in columns:
            if size * column.size > few:
                combined, size = _renumbered(combined)
            combined = combined * column.size + column.codes.array[:rows]
            size *= column.size
        return _renumbered(combined) if size > few else (combined, size)


def _conjunction(verdicts: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """What clauses say together: FAILED where one of them fails, whatever the others say."""
    together = np.stack(verdicts)
    return np.where((together == FAILED).any(axis=0), FAILED, (together == TRUE).all(axis=0)).astype(np.uint8)


def _renumbered(combined: Codes) -> tuple[Codes, int]:
    """The same distinctions with as few numbers as there are combinations. 0 stays 0."""
    distinct, renumbered = np.unique(np.append(combined, _NOT_ASKED), return_inverse=True)
    return renumbered[:-1], len(distinct)


def _verdict(program: Program, device: Device, combination: int, failures: dict[int, EvaluationError]) -> int:
    try:
        return TRUE if program.matches(device) else FALSE
    except EvaluationError as error:
        # Where it was raised is of no interest, and would keep this evaluation alive.
        failures[combination] = error.with_traceback(None)
        return FAILED


def _no_device(row: int) -> LookupError:
    return LookupError(f"row {row} has no device: it was removed")
