"""StatefulSet: pods with ordinals, each with its name, hostname and volumes.

Source: Kubernetes 1.37.2, pkg/controller/statefulset.
"""

from reparto.placement.workloads.fields import Json, listing
from reparto.placement.workloads.objects import Draft, Made, Workload, pod_template, template_hash
from reparto.placement.workloads.world import World


def stateful_set(item: Workload, world: World) -> Made:
    """Pods `NAME-START` … in order. All are planned at once; with podManagementPolicy OrderedReady each waits for the former."""
    spec = item.spec
    template = pod_template(spec)
    replicas = world.replicas(item, spec.number("replicas", 1))
    start = spec.at("ordinals").number("start", 0)
    revision = f"{item.name}-{template_hash(template)}"
    claims = spec.items("volumeClaimTemplates")
    written = listing(spec.at("template", "spec").value.get("volumes"))
    for ordinal in range(start, start + replicas):
        name = f"{item.name}-{ordinal}"
        own = [claim.at("metadata").text("name") for claim in claims]
        volumes: list[Json] = [{"name": each, "persistentVolumeClaim": {"claimName": f"{each}-{name}"}} for each in own]
        volumes += [volume for volume in written if volume.get("name") not in own]
        yield Draft(
            name,
            template,
            labels={
                "statefulset.kubernetes.io/pod-name": name,
                "apps.kubernetes.io/pod-index": str(ordinal),
                "controller-revision-hash": revision,
            },
            spec={
                "hostname": name,
                "subdomain": spec.text("serviceName"),
                **({"volumes": volumes} if claims else {}),
            },
        )
