"""Workloads: the pods that controllers would make of Deployments, Jobs, Ray clusters and whatever else holds a pod template.

One module per family of controllers; `families` says which kind belongs to which.
"""

from reparto.placement.workloads.expansion import Expansion, expand
from reparto.placement.workloads.overrides import Override, parse_replicas

__all__ = ["Expansion", "Override", "expand", "parse_replicas"]
