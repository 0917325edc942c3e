"""Units of demand through groups of devices that are alike: a flow, where each device serves one unit.

Groups are few, for devices that the same demands may take are one group. So paths are looked for from scratch, and a unit that is
in the way is moved to another group.
"""

from collections.abc import Iterable, Sequence


class Flow:
    """Units of demands to groups of devices, each device for one unit.

    A group is a number: a bit for each demand that it could serve, and above those its part, if it belongs to one; `limits` say how
    many units a part gives at the most, whatever its devices.
    """

    def __init__(self, lanes: int, counts: dict[int, int], limits: dict[int, int] | None = None) -> None:
        self._counts = counts
        self._lanes = lanes
        self._limits = limits or {}
        self._parts: dict[int, list[int]] = {}
        for group in counts if limits else ():
            self._parts.setdefault(group >> lanes, []).append(group)
        self.short: list[int] = []
        """After `route` has failed: demands that need more devices together than there are for any of them."""

    def route(self, needs: Sequence[int]) -> dict[int, dict[int, int]] | None:
        """How many units of which demand each group serves; None if some go without."""
        left, room, lanes = dict(self._counts), dict(self._limits), self._lanes
        routes: dict[int, dict[int, int]] = {group: {} for group in left}
        supply = [sum([count for group, count in left.items() if group >> place & 1]) for place in range(lanes)]
        for place in sorted(range(lanes), key=lambda place: supply[place] - needs[place]):
            wanted = needs[place]
            for group in sorted([group for group in left if group >> place & 1], key=int.bit_count) if wanted else ():
                part = group >> lanes
                units = min(wanted, left[group], room.get(part, wanted))
                if units:
                    self._move(group, place, units, left, room, routes)
                    wanted -= units
                    if not wanted:
                        break
            while wanted:
                moved = self._push(place, wanted, left, room, routes)
                if not moved:
                    return None
                wanted -= moved
        return routes

    def _move(
        self, group: int, place: int, units: int, left: dict[int, int], room: dict[int, int], routes: dict[int, dict[int, int]]
    ) -> None:
        left[group] -= units
        if group >> self._lanes in room:
            room[group >> self._lanes] -= units
        routes[group][place] = routes[group].get(place, 0) + units

    def _push(self, place: int, wanted: int, left: dict[int, int], room: dict[int, int], routes: dict[int, dict[int, int]]) -> int:
        """Make room for units of a demand by moving units of others from group to group; how many."""
        # By group reached: the demand whose unit moves there, the group that it leaves, and the group that is entered in its stead:
        # another one of the same part where that is full, else the same.
        via: dict[int, tuple[int, int, int]] = {group: (place, -1, -1) for group in left if group >> place & 1}
        queue = list(via)
        movers = {place}
        for group in queue:
            part = group >> self._lanes
            full = part in room and not room[part]
            if left[group] and not full:
                units, walk = min(wanted, left[group], room.get(part, wanted)), group
                while via[walk][1] >= 0:
                    mover, leaves, walk = via[walk]
                    units = min(units, routes[leaves][mover], units if leaves == walk else left[walk])
                walk = group
                left[group] -= units
                if part in room:
                    room[part] -= units
                while True:
                    mover, leaves, enters = via[walk]
                    routes[walk][mover] = routes[walk].get(mover, 0) + units
                    if leaves < 0:
                        return units
                    routes[leaves][mover] -= units
                    left[leaves] += units
                    left[enters] -= units
                    walk = enters
            for leaves in self._parts[part] if full and left[group] else (group,):
                for mover, units in routes[leaves].items():
                    if units and mover not in movers:
                        movers.add(mover)
                        for other in left:
                            if other >> mover & 1 and other not in via:
                                via[other] = (mover, leaves, group)
                                queue.append(other)
        self.short = sorted(movers)
        return 0


def unserved(masks: Sequence[int], needs: Sequence[int]) -> list[int]:
    """Demands (by place) that need more positions together than their masks hold; empty if every demand can be served.

    `masks` are the positions that serve each demand, each one unit.
    """
    everything = 0
    for mask in masks:
        everything |= mask
    atoms = atoms_of(everything, set(masks))
    counts: dict[int, int] = {}
    for atom in atoms:
        serves = sum(1 << place for place, mask in enumerate(masks) if mask & atom)
        counts[serves] = counts.get(serves, 0) + atom.bit_count()
    flow = Flow(len(needs), counts)
    return [] if flow.route(needs) is not None else flow.short


def atoms_of(mask: int, cuts: Iterable[int]) -> list[int]:
    """`mask` in parts that no cut tells apart: each lies inside or outside of every one of them."""
    atoms = [mask] if mask else []
    for cut in cuts:
        atoms = [part for atom in atoms for part in (atom & cut, atom & ~cut) if part]
    return atoms
