"""Options that every command reading objects shares, and what they mean together.

`@input_options` adds them and hands the command one `Inputs` value, checked: unknown gates, unknown releases and contradictory
namespaces end in exit code 2 before any file is opened. Where a cluster is meant, the command finds it read, first of the sources.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from reparto.model.given import Given
    from reparto.model.intake import Intake, Loaded

VERSIONS = ("1.34", "1.35", "1.36", "1.37")
DEFAULT_VERSION = "1.37"

NOTHING_GIVEN = """nothing to read: {reason}
Give files with -f, for example
  {command} -f cluster.yaml -f manifests/
  kubectl get resourceslices,deviceclasses,resourceclaims,resourceclaimtemplates,pods,nodes -A -o yaml | {command} -f -
or name a cluster with --kubeconfig, --context or KUBECONFIG."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What to read and by which release's rules.

    `sources`: a cluster that was read, then files, directories or `-`; at least one. `namespace`: the one to show (-n, or that of a
    cluster's context), None: all. `home`: the one that objects which name none are in, None: default. `version`: "1.34" … "1.37".
    `gates`: every DRA gate → on or off. `context`: that of the cluster that was read, None for files alone. `stand_ins`: whether
    a DeviceClass that a known driver ships may stand in for one that is missing; not where a cluster told all it has.
    """

    sources: "tuple[str | Given, ...]"
    namespace: str | None
    all_namespaces: bool
    version: str
    gates: dict[str, bool]
    strict: bool
    verbose: int
    home: str | None = None
    context: str | None = None
    stand_ins: bool = True

    def read(self, *, visit: "Callable[[Loaded], None] | None" = None, keep_documents: bool = False) -> "Intake":
        """Read the sources by these rules, with a progress bar where it takes long; the options are those of `read_inputs`."""
        from reparto.cli.progress import Progress
        from reparto.model.intake import read_inputs

        with Progress("reading") as progress:
            return read_inputs(
                self.sources,
                namespace=self.home,
                strict=self.strict,
                gates=self.gates,
                version=self.version,
                visit=visit,
                progress=progress,
                keep_documents=keep_documents,
            )


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add -f, --kubeconfig, --context, -n, -A, --kubernetes-version, --feature-gates, --strict and -v.

    The command receives them as `inputs: Inputs`.
    """

    @wraps(command)
    def run(
        *arguments: Any,
        filenames: tuple[str, ...],
        kubeconfig: str | None,
        context: str | None,
        namespace: str | None,
        all_namespaces: bool,
        kubernetes_version: str | None,
        feature_gates: tuple[str, ...],
        strict: bool,
        verbose: int,
        **others: Any,
    ) -> Any:
        if namespace is not None and all_namespaces:
            raise click.UsageError("-n and -A contradict each other: give one of them")
        if namespace is not None:
            from reparto.model.names import dns1123_label

            if problems := dns1123_label(namespace):
                raise click.BadParameter(
                    f"{namespace!r} is no namespace name: {problems[0].partition(' (e.g.')[0]}", param_hint="'-n'"
                )
        # Before a cluster is asked, so that a mistake costs nothing; a cluster may be of another release, so again afterwards.
        gates = _gates(feature_gates, kubernetes_version or DEFAULT_VERSION) if kubernetes_version or filenames else {}
        if filenames and kubeconfig is None and context is None:
            from reparto.cli.recorded import recorded

            record = recorded(filenames)
            version = kubernetes_version or record.version or DEFAULT_VERSION
            inputs = Inputs(
                sources=(*record.sources, *filenames),
                namespace=namespace,
                all_namespaces=namespace is None,
                version=version,
                gates=gates
                if version == DEFAULT_VERSION and not record.gates
                else _gates((*record.gates, *feature_gates), version),
                strict=strict,
                verbose=verbose,
                home=namespace,
                stand_ins=record.stand_ins,
            )
            return command(*arguments, inputs=inputs, **others)

        from reparto.cli.live import ask_cluster

        live = ask_cluster(
            kubeconfig,
            context,
            namespace=namespace,
            all_namespaces=all_namespaces,
            files=filenames,
            version=kubernetes_version,
            nothing=NOTHING_GIVEN.replace("{command}", click.get_current_context().command_path),
        )
        inputs = Inputs(
            sources=(live.given, *filenames),
            namespace=live.shown,
            all_namespaces=live.shown is None,
            version=live.version,
            gates=_gates((*live.gates, *feature_gates), live.version),
            strict=strict,
            verbose=verbose,
            home=live.home,
            context=live.context,
            stand_ins=live.stand_ins,
        )
        return command(*arguments, inputs=inputs, **others)

    decorated: Callable[..., Any] = run
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _gates(texts: tuple[str, ...], version: str) -> dict[str, bool]:
    from reparto.model.gates import parse_gates

    try:
        return parse_gates(",".join(texts), version)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--feature-gates'") from None


def _version(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    short = ".".join(value.removeprefix("v").split(".")[:2])
    if short not in VERSIONS:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(VERSIONS)}")
    return short


def _releases(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    return [version for version in VERSIONS if version.startswith(text)]


def _contexts(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """The contexts of the kubeconfig that is meant; none where it cannot be read."""
    import os

    from reparto.kube.errors import ConfigError
    from reparto.kube.kubeconfig import load

    try:
        config = load(context.params.get("kubeconfig"), os.environ)
    except ConfigError:
        return []
    return [name for name in sorted(config.contexts) if name.startswith(text)]


def _gate_settings(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """What may follow `text` in --feature-gates: the gates of the newest release, both ways, after those written already."""
    from reparto.model.gates import default_gates

    before, comma, begun = text.rpartition(",")
    settings = [f"{gate}={value}" for gate in default_gates(DEFAULT_VERSION) for value in ("true", "false")]
    return [f"{before}{comma}{setting}" for setting in settings if setting.startswith(begun)]


_OPTIONS: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
    click.option(
        "-f",
        "--filename",
        "filenames",
        multiple=True,
        metavar="FILE|DIR|-",
        type=click.Path(allow_dash=True),  # for shells to complete
        help="YAML or JSON, plain or .gz; a directory is read recursively; - is standard input. Repeatable. Without -f, the "
        "cluster is read that kubectl would talk to; with both, files are what would be applied to it.",
    ),
    click.option(
        "--kubeconfig",
        metavar="FILE",
        type=click.Path(),  # for shells to complete
        help="How to reach the cluster.  [default: KUBECONFIG, ~/.kube/config, in-cluster]",
    ),
    click.option(
        "--context", metavar="NAME", shell_complete=_contexts, help="Which context of the kubeconfig.  [default: its current one]"
    ),
    click.option(
        "-n",
        "--namespace",
        metavar="NAME",
        help="Show this namespace only; objects that name none are in it, too.  [default: all; of a cluster, the context's]",
    ),
    click.option("-A", "--all-namespaces", is_flag=True, help="Show all namespaces, which files do anyway."),
    click.option(
        "--kubernetes-version",
        default=None,
        metavar="1.34..1.37",
        callback=_version,
        shell_complete=_releases,
        help=f"Release whose feature gates are the defaults.  [default: the cluster's, {DEFAULT_VERSION} for files]",
    ),
    click.option(
        "--feature-gates",
        multiple=True,
        metavar="A=true,B=false",
        shell_complete=_gate_settings,
        help="Gates that differ from the release's defaults. Repeatable.",
    ),
    click.option("--strict", is_flag=True, help="Refuse objects that lack what only a server writes (uids, transition times)."),
    click.option("-v", "--verbose", count=True, help="Say also what was passed over."),
)
