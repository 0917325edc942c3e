"""What the comparisons share."""

from __future__ import annotations

import pytest

from conformance.figures import PROPERTY, Figures


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Counts what a test came to, for the summary at the end of the run."""
    counted = Figures()
    request.node.user_properties.append((PROPERTY, counted.counts))
    return counted
