"""The scheduler's plugins, one module each: which nodes a pod may use, and which of them is best.

Three kinds. *Node checks* (`checks.py`) ask about a node alone; their answers are remembered for every pod of a shape. *Relations*
(`spread.py`, `pod_affinity.py`) depend on where other pods are and answer for all nodes at once, per pod. *Devices*
(`devices.py`) runs the allocator, which costs most and can fail for good, so that it is asked last and only as often as needed.
Each has scores of the same kind. A new rule is a module here and an entry in `cycle.py`.
"""
