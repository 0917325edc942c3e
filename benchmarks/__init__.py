"""How fast, on this machine, beside the reference in the same run: `python -m benchmarks [name …]`.

Wall time of Python is the best of several rounds, for the noise of a shared machine only ever adds. What Kubernetes' own code takes
is measured inside its program (`reference/`), without JSON and pipe. Figures that are worth telling are in docs/performance.md.
"""
