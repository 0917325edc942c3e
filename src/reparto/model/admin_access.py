"""Admin access needs a label on the namespace, a rule that only the whole input can answer.

The API server refuses to create a claim or template with `adminAccess: true` in a namespace without it. Where the Namespace is
not in the input, nobody knows; that is said, and the claim takes part. Source: validation-1.37.md sections 4 and 5, first rows.
"""

from collections.abc import Mapping

from reparto.model import v1
from reparto.model.errors import FieldError
from reparto.model.meta import Base

LABEL = "resource.kubernetes.io/admin-access"


def uses(obj: Base) -> list[str]:
    """Paths where a claim or template asks for admin access, or a claim has been granted it, as the API server reports them."""
    if isinstance(obj, v1.ResourceClaimTemplate):
        spec, status = obj.spec.spec, None
    elif isinstance(obj, v1.ResourceClaim):
        spec, status = obj.spec, obj.status
    else:
        return []
    # The first use is reported, and without `exactly`, for templates without the outer spec: the API server's paths.
    asked = (index for index, request in enumerate(spec.devices.requests) if request.exactly and request.exactly.admin_access)
    paths = [f"spec.devices.requests[{index}].adminAccess" for index in asked][:1]
    if status is not None and status.allocation is not None:
        granted = (index for index, result in enumerate(status.allocation.devices.results) if result.admin_access)
        paths += [f"status.allocation.devices.results[{index}].adminAccess" for index in granted][:1]
    return paths


def line_path(obj: Base, path: str) -> str:
    """The path under which the file has the field that `path` of `uses` means."""
    return f"spec.{path}" if isinstance(obj, v1.ResourceClaimTemplate) else path


def judged(path: str, namespace: str, labels: Mapping[str, str] | None) -> FieldError | None:
    """The verdict on one use, given the namespace's labels (None: it is not in the input); None if it is allowed."""
    if labels is not None and labels.get(LABEL) == "true":
        return None
    message = f"admin access to devices requires the label {LABEL}: true on the containing namespace"
    if labels is None:
        hint = f"add Namespace {namespace} to the input: if it lacks the label, the API server refuses this"
    else:
        hint = f'label Namespace {namespace} with {LABEL}: "true", or remove adminAccess'
    return FieldError("FieldValueForbidden", path, True, message, hint)
