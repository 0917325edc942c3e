"""Kubernetes' own allocator and CEL, measured inside its program: see `reference/README.md`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "reference.py"


def ask(question: dict[str, Any]) -> dict[str, Any]:
    """One answer of the allocation program, built if need be."""
    built = subprocess.run([sys.executable, SCRIPT, "allocation"], stdout=subprocess.PIPE, text=True, check=True)
    done = subprocess.run([built.stdout.strip()], input=json.dumps(question) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    if answer["kind"] in ("invalid", "panic"):
        raise RuntimeError(f"the reference refuses the question: {answer['error']}")
    return answer
