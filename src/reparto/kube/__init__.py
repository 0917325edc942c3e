"""Any Kubernetes API, read: how to reach it (kubeconfig or in-cluster), who we are there, and what it holds.

Reads only: nothing here writes to a cluster. The modules are imported where a cluster is meant to be read and nowhere else, so that
working on files costs nothing.
"""
