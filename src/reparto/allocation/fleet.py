"""Many nodes asked together: which of them have the devices that a pod needs?

A scheduler asks the same of hundreds of nodes for every pod of a workload, while one pod changes one node. So answers are kept, one
byte a node for each question, and only those are dropped that rest on something that changed: devices that were taken or given
back, a slice, a class, the node itself. What does not fit stays so while devices are only taken, lost or tainted, or come and are
none that the pod may choose. A pod then costs the nodes that changed since its question was last asked, and a walk over bytes.

Two pods ask the same question if the specs of their claims say the same. Errors that end a pod's attempt are not kept: they name
its claims. They are met exactly as if every node were asked in turn: a node whose answer is known would have given it again.

Claims on which the search gives up are likely to defeat it on every node. Each time they do, the next node gets half the steps, so
that a pod costs about two budgets in all and not one for each node.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, compress, islice
from typing import Final, NamedTuple, TypeVar

import msgspec

from reparto.allocation.allocator import Allocator, ClassChange
from reparto.allocation.errors import AllocationError, GaveUp
from reparto.allocation.inventory import PublishedDevice
from reparto.allocation.journal import Journal
from reparto.allocation.node_answers import Allocations, Answers, Content, Effect, Question
from reparto.allocation.search import Solution
from reparto.allocation.setting import Setting, selectable
from reparto.allocation.state import Change, PoolID
from reparto.model.core import Node
from reparto.model.v1 import ResourceClaim, ResourceClaimSpec

QUESTIONS: Final = 1024
"""Questions whose answers are kept; of more, those that were not asked for the longest time are forgotten."""

_ALIASES: Final = 4096
"""Lists of specs that are known by identity: a shortcut, so that equal specs need not be compared each time."""

# An attempt costs no more than a few dozen steps where it goes well; this many (some 25 ms) are always granted.
_LEAST_STEPS: Final = 10_000

_FEW: Final = 64
"""Nodes that are gone through one by one; more are treated as lanes."""

_FREED: Final = 65_536
"""Pools of which it is known when devices were last given back."""

_K = TypeVar("_K")
_V = TypeVar("_V")


class Sample(NamedTuple):
    """Nodes that fit, in the order in which they were found, and how many nodes were looked at for that."""

    positions: list[int]
    looked: int


class Fleet:
    """Nodes that are asked about together, in the order given.

    Safe to share between threads, like the allocator: calls take turns. Answers follow the allocator's events and those of its
    allocated state by themselves; nodes are changed here.
    """

    def __init__(self, allocator: Allocator, nodes: Iterable[Node]) -> None:
        self.allocator = allocator
        self.nodes: list[Node] = []
        self._position: dict[str, int] = {}
        self._settings: list[Setting | None] = []
        self._questions: dict[bytes, Question] = {}
        self._aliases: dict[tuple[int, ...], tuple[Question, Sequence[ResourceClaimSpec]]] = {}
        self._answers: dict[Hashable, Answers] = {}
        self._effects: Journal[Effect] = Journal()
        self._lock = allocator.allocated.lock
        self._taken_seen: int = allocator.allocated.journal.end
        self._published_seen: int = allocator.journal.end
        self._class_changes = 0
        self._where: dict[PoolID, tuple[int, Effect]] = {}
        self._subtle: dict[PoolID, tuple[bool, bool]] = {}
        # When a device of the pool was last given back, in entries of the journal; of pools that are not there, by then.
        self._freed: dict[PoolID, int] = {}
        self._forgotten = 0
        for node in nodes:
            if node.metadata.name in self._position:
                raise ValueError(f"two nodes are called {node.metadata.name}: a fleet needs each node once")
            self._append(node)

    def __len__(self) -> int:
        return len(self.nodes)

    # --- questions ----------------------------------------------------------------------------------------------------------------

    def feasible(self, claims: Sequence[ResourceClaim], *, start: int = 0, wanted: int | None = None) -> Sample:
        """The nodes on which the claims fit, from position `start` on and around, until `wanted` (None: all) are found.

        `Sample.looked` is how many nodes the walk came by: kube-scheduler's next search begins that much further on. Nodes with an
        error of their own, and those on which the search gave up, count as nodes that do not fit. Raises AllocationError where the
        walk meets an error of the pod. Cost: the nodes that changed since the question was last asked, as far as the walk comes by
        them, each an attempt; and some nanoseconds for each node that it comes by.
        """
        with self._lock:
            question, answers = self._asked(claims)
            count = len(self.nodes)
            enough = count if wanted is None else wanted
            if not count or enough <= 0:
                return Sample([], 0)
            start %= count
            fits = answers.fits
            self._walk(question, answers, claims, start, enough)
            places = chain(compress(range(start, count), fits[start:]), compress(range(start), fits[:start]))
            positions = list(islice(places, enough))
            looked = (positions[-1] - start) % count + 1 if len(positions) == enough else count
            return Sample(positions, looked)

    def first(self, claims: Sequence[ResourceClaim]) -> int | None:
        """The position of the first node on which the claims fit; None: they fit nowhere.

        Errors and cost as `feasible`; what does not fit and did not change is passed over at the speed of memory.
        """
        with self._lock:
            question, answers = self._asked(claims)
            fits, unknown = answers.fits, answers.unknown
            place = unknown.find(1)
            while place >= 0:
                fit = fits.find(1, 0, place)
                if fit >= 0:
                    return fit
                if self._decide(question, answers, place, claims):
                    return place
                place = unknown.find(1, place + 1)
            fit = fits.find(1)
            return None if fit < 0 else fit

    def allocate(self, position: int, claims: Sequence[ResourceClaim]) -> Allocations | None:
        """What the claims get on the node at `position`, None if they do not fit there; as `Allocator.allocate`, errors included.

        The list is kept and given to everybody who asks the same: it is not to be changed. Cost: none that grows for a node on
        which the answer is known.
        """
        with self._lock:
            question, answers = self._asked(claims)
            return self._result(question, answers, position, claims)

    # --- the same for whoever asks of each node something else --------------------------------------------------------------------

    def answers(self, key: Hashable) -> Answers:
        """What is known under a name of the caller's, as of now: for claims that are not the same on every node.

        The caller sees to it that a key and a position stand for the same specs each time.
        """
        with self._lock:
            return self._known_as(key)

    def question(self, claims: Sequence[ResourceClaim]) -> Question:
        """The question that these claims ask."""
        with self._lock:
            return self._question(claims)

    def fit(self, key: Hashable, position: int, claims: Sequence[ResourceClaim]) -> bool:
        """Whether the claims fit on a node; recorded under `key`. Raises AllocationError for errors of the pod."""
        with self._lock:
            answers = self._known_as(key)
            if answers.unknown[position]:
                return self._decide(self._question(claims), answers, position, claims)
            return bool(answers.fits[position])

    def result(self, key: Hashable, position: int, claims: Sequence[ResourceClaim]) -> Allocations | None:
        """As `allocate`, with the answers that are kept under `key`."""
        with self._lock:
            return self._result(self._question(claims), self._known_as(key), position, claims)

    # --- what changes -------------------------------------------------------------------------------------------------------------

    def put_node(self, node: Node) -> int:
        """A node came (it gets the last position), or is another than before. Returns its position. Cost: none that grows."""
        with self._lock:
            position = self._position.get(node.metadata.name)
            self._catch_up()
            if position is None:
                self._effects.write(Effect(came=True))
                return self._append(node)
            self.nodes[position], self._settings[position] = node, None
            self._effects.write(Effect((position,)))
            return position

    def remove_node(self, name: str) -> None:
        """A node is gone: those behind it move up by one. Nothing happens if there is none of this name. Cost: the nodes."""
        with self._lock:
            position = self._position.get(name)
            if position is None:
                return
            self._catch_up()
            del self.nodes[position], self._settings[position]
            self._position = {node.metadata.name: place for place, node in enumerate(self.nodes)}
            self._where.clear()
            self._effects.write(Effect(gone=position))

    @property
    def moment(self) -> int:
        """Where the history of changes stands now; for `changed_since`."""
        with self._lock:
            self._catch_up()
            return self._effects.end

    def changed_since(self, moment: int) -> Sequence[int] | None:
        """Positions of the nodes whose devices were taken since, some of them repeatedly; None: anything may have changed."""
        with self._lock:
            self._catch_up()
            effects = self._effects.since(moment)
            if effects is None or any(not effect.taken or effect.lanes for effect in effects):
                return None
            return [position for effect in effects for position in effect.positions]

    # --- asking -------------------------------------------------------------------------------------------------------------------

    def _asked(self, claims: Sequence[ResourceClaim]) -> tuple[Question, Answers]:
        question = self._question(claims)
        return question, self._known_as(question)

    def _question(self, claims: Sequence[ResourceClaim]) -> Question:
        identity = tuple([id(claim.spec) for claim in claims])
        known = self._aliases.get(identity)
        if known is not None:
            return known[0]
        specs = [claim.spec for claim in claims]
        content = msgspec.msgpack.encode(specs)
        question = self._questions.get(content)
        if question is None:
            question = self._questions[content] = Question(specs)
            _trim(self._questions, QUESTIONS)
        _trim(self._aliases, _ALIASES)
        # With the specs, for as long as they are held nothing else can have their identity.
        self._aliases[identity] = question, specs
        return question

    def _known_as(self, key: Hashable) -> Answers:
        self._catch_up()
        answers = self._answers.pop(key, None)
        if answers is None:
            answers = Answers(len(self.nodes), self._effects.end)
            _trim(self._answers, QUESTIONS)
        elif answers.seen != self._effects.end:
            effects = self._effects.since(answers.seen)
            if effects is None:
                answers.reset(len(self.nodes))
            for effect in effects or ():
                answers.apply(effect)
            answers.seen = self._effects.end
        self._answers[key] = answers
        return answers

    def _walk(self, question: Question, answers: Answers, claims: Sequence[ResourceClaim], start: int, enough: int) -> None:
        """Decide the nodes that are not known, from `start` on and around, until `enough` nodes are known to fit."""
        fits, unknown = answers.fits, answers.unknown
        found = 0
        for low, high in ((start, len(fits)), (0, start)):
            while True:
                place = unknown.find(1, low, high)
                found += int.from_bytes(fits[low : high if place < 0 else place], "little").bit_count()
                if found >= enough:
                    return
                if place < 0:
                    break
                found += self._decide(question, answers, place, claims)
                low = place + 1

    def _decide(self, question: Question, answers: Answers, position: int, claims: Sequence[ResourceClaim]) -> bool:
        """Ask the allocator about one node, and keep the answer. Raises AllocationError for errors of the pod."""
        answers.classes |= question.classes
        answers.only_shrinks &= question.only_shrinks
        answers.failures.pop(position, None)
        answers.found.pop(position, None)
        if not claims:
            # They need nothing of anybody.
            answers.unknown[position], answers.fits[position], answers.found[position] = 0, 1, ([], [])
            return True
        try:
            setting = self._setting(position)
            if position in answers.former and answers.restore(position, self._content(setting)):
                return bool(answers.fits[position])
            if position in answers.refuted and question.shareable and question.only_shrinks:
                if self._has_less(question, setting, *answers.refuted[position]):
                    answers.unknown[position] = answers.fits[position] = 0
                    return False
            solutions = self._solve(question, setting, claims)
            if solutions is not None:
                # Most allocations can be written down later, when the node is chosen; some cannot be written down at all.
                simple = all(_is_simple(solution) for solution in solutions)
                results = None if simple else self.allocator.assemble(self.nodes[position], claims, solutions)
                answers.found[position] = solutions, results
            elif position in answers.refuted and all(pool.usable for pool in setting.pools):
                # What the node has now is the more that it takes for nothing: next time it is compared with this.
                del answers.refuted[position]
        except AllocationError as error:
            if not error.node_only:
                raise
            answers.failures[position] = error
            solutions = None
        answers.unknown[position] = 0
        answers.fits[position] = fits = solutions is not None
        return fits

    def _setting(self, position: int) -> Setting:
        node, setting = self.nodes[position], self._settings[position]
        if setting is None or setting.pools is not self.allocator.pools(node):
            setting = self._settings[position] = self.allocator.setting(node)
        return setting

    def _solve(self, question: Question, setting: Setting, claims: Sequence[ResourceClaim]) -> list[Solution] | None:
        allocator = self.allocator
        if question.defeats:
            granted = allocator.step_budget
            setting = allocator.setting(setting.node, min(granted, max(granted >> question.defeats, _LEAST_STEPS)))
        prepared = question.prepared if question.prepared_at == self._class_changes else None
        try:
            if prepared is None:
                written = allocator.prepare(setting, claims)
                if question.shareable:
                    question.prepared, question.prepared_at = written, self._class_changes
                return allocator.solve(setting, written)
            return allocator.solve(setting, prepared)
        except GaveUp:
            question.defeats += 1
            raise
        except AllocationError as error:
            if prepared is None or error.node_only:
                raise
        # The error names the claims that were asked about first; these claims have their own names.
        return allocator.solve(setting, allocator.prepare(setting, claims))

    def _result(self, question: Question, answers: Answers, position: int, claims: Sequence[ResourceClaim]) -> Allocations | None:
        if answers.unknown[position]:
            self._decide(question, answers, position, claims)
        if not answers.fits[position]:
            if (failure := answers.failures.get(position)) is not None:
                raise failure
            return None
        solutions, results = answers.found[position]
        if results is None:
            results = self.allocator.assemble(self.nodes[position], claims, solutions)
            answers.found[position] = solutions, results
        return results

    # --- following events ---------------------------------------------------------------------------------------------------------

    def _append(self, node: Node) -> int:
        position = self._position[node.metadata.name] = len(self.nodes)
        self.nodes.append(node)
        self._where.clear()
        self._settings.append(None)
        return position

    def _catch_up(self) -> None:
        """Turn what happened to slices, classes and devices into what happened to nodes."""
        allocator = self.allocator
        taken, published = allocator.allocated.journal, allocator.journal
        if taken.end == self._taken_seen and published.end == self._published_seen:
            return
        moment = self._taken_seen
        publications, changes = published.since(self._published_seen), taken.since(moment)
        self._published_seen, self._taken_seen = published.end, taken.end
        if publications is None or changes is None:
            self._where.clear()
            self._subtle.clear()
            self._class_changes += 1
            self._freed.clear()
            self._forgotten = self._taken_seen
            for answers in self._answers.values():
                answers.reset(len(self.nodes))
                answers.seen = self._effects.end
            return
        changed = {change.pool for change in changes}
        for publication in publications:
            if isinstance(publication, ClassChange):
                self._class_changes += 1
                self._effects.write(Effect(class_name=publication.name))
            else:
                self._where.pop(publication.pool, None)
                self._subtle.pop(publication.pool, None)
                effect = self._at(publication.nodes, taken=False)
                self._effects.write(effect._replace(before=self._before(effect.positions, changed), moment=moment))
        if len(self._freed) > _FREED:
            self._freed.clear()
            self._forgotten = self._taken_seen
        for pool, change in changes:
            if change is Change.FREED:
                self._freed[pool] = self._taken_seen
            effect = self._on(pool)
            if change is Change.FREED or self._may_help(pool)[change is Change.SHARED]:
                effect = effect._replace(taken=False)
            self._effects.write(effect)

    def _on(self, pool: PoolID) -> Effect:
        """The nodes that have seen the pool, where devices were taken."""
        seen_by = self.allocator.seen_by(pool)
        known = self._where.get(pool)
        if known is None or known[0] != len(seen_by):
            known = self._where[pool] = len(seen_by), self._at(seen_by, taken=True)
        return known[1]

    def _at(self, names: Iterable[str], taken: bool) -> Effect:
        positions = [position for name in names if (position := self._position.get(name)) is not None]
        if len(positions) <= _FEW:
            return Effect(positions, taken=taken)
        lanes = bytearray(len(self.nodes))
        for position in positions:
            lanes[position] = 1
        return Effect(lanes=int.from_bytes(lanes, "little"), taken=taken)

    def _before(self, positions: Sequence[int], changed: AbstractSet[PoolID]) -> Mapping[int, Content]:
        """What these nodes had when they were last asked about, as far as all of it was usable and not `changed` since."""
        found: dict[int, Content] = {}
        for position in positions:
            setting = self._settings[position]
            if setting is not None and not any(pool.id in changed for pool in setting.pools):
                if content := self._content(setting):
                    found[position] = content
        return found

    def _content(self, setting: Setting) -> Content:
        """Empty if not all pools are usable, so that the answer may depend on something else."""
        if not all(pool.usable for pool in setting.pools):
            return ()
        version_of = self.allocator.allocated.pool_version
        return tuple([(pool.content, version_of(pool.id)) for pool in setting.pools if pool.content is not None])

    def _has_less(self, question: Question, setting: Setting, former: Content, moment: int) -> bool:
        """Whether what did not fit when the node had `former`, at that moment, does not fit now.

        Fewer devices, or more taints on them, are to the search what devices in use are: it looks at fewer, meets no error that it
        did not meet then, and each solution that it could find was one then. Devices that it may not choose do not change that.
        Not so where taking a device may help others, and in mode All.
        """
        allocated = self.allocator.allocated
        if len(setting.pools) != len(former):
            return False
        for pool, (content, _) in zip(setting.pools, former, strict=True):
            if pool.id != content.id or pool.invalid:
                return False
            if pool.incomplete:
                continue  # nothing at all
            # Who sees a pool is not known while its slices change, so effects do not tell.
            if self._freed.get(pool.id, self._forgotten) > moment or any(self._may_help(pool.id)):
                return False
            gained = pool.content.gained(content, allocated.allocated_in(pool.id).keys()) if pool.content is not None else None
            if gained is None:
                return False
            if gained and not all(
                self._is_refused(question, setting, record) for record in pool.devices if record.device.name in gained
            ):
                return False
        return True

    def _is_refused(self, question: Question, setting: Setting, record: PublishedDevice) -> bool:
        """Whether the search passes over the device, whatever it tries, and without an error."""
        if question.prepared is None or question.prepared_at != self._class_changes:
            return False
        in_use = self.allocator.allocated.in_use(record.id, self.allocator.features.consumable_capacity)
        try:
            return not any(
                (alternative.admin_access or not in_use) and selectable(setting, alternative, record)
                for claim in question.prepared
                for request in claim.requests
                for alternative in request.alternatives
            )
        except AllocationError:
            return False

    def _may_help(self, pool: PoolID) -> tuple[bool, bool]:
        """Whether taking a device of the pool, whole or a share of it, may make fit what did not fit.

        A device that frees counters does, and where the groups of allocated devices contradict each other another one more may. A
        further share of a device pays for no counters, so the first may help others.
        """
        known = self._subtle.get(pool)
        if known is None:
            slices = self.allocator.inventory.of_pool(pool)
            whole = any(published.traits.declares_groups or published.traits.frees_counters for published in slices)
            known = self._subtle[pool] = whole, whole or any(published.traits.shares_counters for published in slices)
        return known


def _is_simple(solution: Solution) -> bool:
    return all(pick.slice.node_selector is None and not pick.slice.per_device_node_selection for pick in solution.picks)


def _trim(kept: dict[_K, _V], most: int) -> None:
    """Make room for one more: the older half goes once there are `most`."""
    if len(kept) >= most:
        for key in list(islice(kept, most // 2)):
            del kept[key]
