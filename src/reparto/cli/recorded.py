"""What a snapshot says about the cluster that it was taken from: its release, and what could not be read.

`reparto snapshot` writes it in front of the objects, in an annotation of the List, so that a colleague who replays the file gets
the same answer without knowing what to ask for. Only the beginning of each file is looked at.
"""

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from reparto.model.given import Given, Remark

ANNOTATION = "reparto.dev/snapshot"
_PEEK = 64 * 1024  # bytes; the head of a snapshot is a few hundred


class Gap(msgspec.Struct, frozen=True):
    """Something of the cluster that was not read; see `reparto.kube.cluster.Gap`."""

    resource: str
    message: str


class Origin(msgspec.Struct, frozen=True):
    """Where a snapshot comes from. `version` is the server's own text; `release` and `compatible` are (major, minor), if known."""

    version: str = ""
    release: tuple[int, int] | None = None
    compatible: tuple[int, int] | None = None
    gaps: tuple[Gap, ...] = ()

    def rules(self) -> "Rules":
        """The rules that a plan for this cluster follows, and what there is to say about them."""
        from reparto.model import codes
        from reparto.model.gates import VERSIONS
        from reparto.model.given import Remark

        known = [tuple(map(int, version.split("."))) for version in VERSIONS]
        remarks = [Remark(codes.CLUSTER_UNREAD, "", gap.message) for gap in self.gaps]
        release = self.release or known[-1]
        nearest = min(max(release, known[0]), known[-1])
        version = ".".join(map(str, nearest))
        if self.release is None:
            text = f"the server does not say its release ({self.version or 'no version'}): the gates of {version} are used"
            remarks.append(Remark(codes.CLUSTER_VERSION, "", text))
        elif nearest != release:
            age = "newer" if release > nearest else "older"
            text = f"the server is {self.version or release}, {age} than what is known: the gates of {version} are used"
            remarks.append(Remark(codes.CLUSTER_VERSION, "", text))
        # On from 1.37, but only where no component is older any more (upstream-dra.md section 1).
        raised = self.compatible is not None and self.compatible >= (1, 37)
        gates = ("DRAFractionalCapacityRange=true",) if version == "1.37" and raised else ()
        unread = any(gap.resource in ("deviceclasses.resource.k8s.io", "resource.k8s.io") for gap in self.gaps)
        return Rules(version, gates, tuple(remarks), unread)


class Rules(msgspec.Struct, frozen=True):
    """`version`: one of `gates.VERSIONS`; `gates`: settings besides its defaults, as `--feature-gates` takes them. `stand_ins`:
    whether DeviceClasses may be missing because they could not be read."""

    version: str | None = None
    gates: tuple[str, ...] = ()
    remarks: "tuple[Remark, ...]" = ()
    stand_ins: bool = True


class Record(msgspec.Struct, frozen=True):
    """What the files among the sources say of themselves."""

    version: str | None = None
    gates: tuple[str, ...] = ()
    sources: "tuple[Given, ...]" = ()
    stand_ins: bool = True


def recorded(sources: Iterable[str]) -> Record:
    """The rules of the first snapshot among `sources`, and the remarks of all; nothing is raised, whatever they are."""
    found = [(source, origin.rules()) for source in sources if (origin := _origin(source)) is not None]
    if not found:
        return Record()
    from reparto.model.given import Given

    first = found[0][1]
    remarks = tuple(Given(source, (), rules.remarks) for source, rules in found if rules.remarks)
    return Record(first.version, first.gates, remarks, all(rules.stand_ins for _, rules in found))


def first_origin(sources: Iterable[str]) -> Origin | None:
    """What the first snapshot among `sources` says of its cluster."""
    return next((origin for source in sources if (origin := _origin(source)) is not None), None)


def _origin(source: str) -> Origin | None:
    path = Path(source)
    if source == "-" or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if compressed else path.open("rb") as file:
            head = file.read(_PEEK)
    except (OSError, EOFError, zlib.error):
        return None  # whoever reads the file says so
    text = _annotation(head)
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=Origin)
    except (msgspec.DecodeError, ValueError):
        return None


class _Metadata(msgspec.Struct):
    annotations: dict[str, str] = {}


class _Head(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def _annotation(head: bytes) -> str | None:
    """The annotation's text in the first lines of JSON or YAML as `reparto snapshot` writes them."""
    if ANNOTATION.encode() not in head:
        return None
    try:
        if head.startswith(b"{"):
            return msgspec.json.decode(head.partition(b"\n")[0] + b"]}", type=_Head).metadata.annotations.get(ANNOTATION)
        import yaml

        return msgspec.convert(yaml.safe_load(head.partition(b"\nitems:")[0]), _Head).metadata.annotations.get(ANNOTATION)
    except (msgspec.DecodeError, ValueError, yaml_error()):
        return None


def yaml_error() -> type[Exception]:
    """PyYAML's base error; imported when something went wrong."""
    import yaml

    return yaml.YAMLError
