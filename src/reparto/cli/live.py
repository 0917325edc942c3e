"""Reading a cluster for a command: connect, read, show progress, and turn what fails into one sentence.

The network client is imported here and nowhere else in the command line, and this module only where a cluster is read.
"""

import asyncio
from typing import NamedTuple

import click

from reparto.cli.progress import Progress
from reparto.cli.recorded import Gap, Origin
from reparto.kube.client import Client
from reparto.kube.cluster import Cluster, read_cluster
from reparto.kube.connection import Connection
from reparto.kube.errors import KubeError, NoCluster
from reparto.kube.kubeconfig import connection as find_connection
from reparto.model import codes
from reparto.model.given import Given, Remark


class Live(NamedTuple):
    """A cluster that was read, as a source of objects, and what follows from it for the options that were not given."""

    given: Given
    context: str
    home: str
    shown: str | None
    version: str
    gates: tuple[str, ...]
    stand_ins: bool


def ask_cluster(
    kubeconfig: str | None,
    context: str | None,
    *,
    namespace: str | None,
    all_namespaces: bool,
    files: tuple[str, ...],
    version: str | None,
    nothing: str,
) -> Live:
    """The cluster of `--kubeconfig` and `--context`. Raises click's exceptions; `nothing` is the text where no cluster is named."""
    connection, cluster = read(kubeconfig, context, namespace, files, nothing)
    rules = origin(cluster).rules()
    remarks = [remark for remark in rules.remarks if version is None or remark.code != codes.CLUSTER_VERSION]
    shown = namespace
    if namespace is None and not all_namespaces and not files:
        shown = connection.namespace
        remarks.append(Remark(codes.ONE_NAMESPACE, "", f"only namespace {shown} is shown; -A shows all, -n another one"))
    return Live(
        given=Given(f"cluster/{cluster.context}", cluster.objects, tuple(remarks)),
        context=cluster.context,
        home=namespace or connection.namespace,
        shown=shown,
        version=version or rules.version or "",
        gates=rules.gates if version in (None, rules.version) else (),
        stand_ins=rules.stand_ins,
    )


def read(
    kubeconfig: str | None, context: str | None, namespace: str | None, files: tuple[str, ...] = (), nothing: str = "{reason}"
) -> tuple[Connection, Cluster]:
    """Everything that a plan depends on, from the cluster that kubectl would talk to. Raises click's exceptions."""
    try:
        connection = find_connection(kubeconfig, context)
        with Progress(f"reading cluster {connection.context}") as progress:
            return connection, asyncio.run(_read(connection, namespace, "-" not in files, progress))
    except NoCluster as error:
        raise click.UsageError(nothing.replace("{reason}", str(error))) from None
    except KubeError as error:
        raise click.ClickException(str(error)) from None


async def _read(connection: Connection, namespace: str | None, stdin_free: bool, progress: Progress) -> Cluster:
    async with Client(connection, stdin_free=stdin_free) as client:
        return await read_cluster(client, namespace=namespace, progress=lambda number: progress.count(number, "objects"))


def origin(cluster: Cluster) -> Origin:
    """What a snapshot of the cluster would say about itself."""
    version = cluster.version
    gaps = tuple(Gap(gap.resource, gap.message) for gap in cluster.gaps)
    return Origin(version.git_version, version.release, version.compatible_with, gaps)
