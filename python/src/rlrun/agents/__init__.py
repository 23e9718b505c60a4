"""Agents with networks, in JAX: ``pip install 'rlrun[deep]'``. docs/deep.md is their guide.

A config names them ``deep-bootstrap-q``, ``deep-q`` and ``pqn``; `rlrun.run` also takes the classes.
"""

import os
import sys

if "RLRUN_PLUGIN" in os.environ:  # rlrun started this process: one thread a computation, before JAX reads it
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

try:
    import jax  # noqa: F401
except ImportError as e:
    NEEDS = f"agents with networks need JAX, which {sys.executable} does not have: pip install 'rlrun[deep]'"
    if "RLRUN_PLUGIN" in os.environ:
        sys.exit(NEEDS)
    raise ImportError(NEEDS) from e

from rlrun.agents.deep import DeepBootstrapQ, DeepQ
from rlrun.agents.pqn import PQN
from rlrun.serve import serve

__all__ = ["PQN", "DeepBootstrapQ", "DeepQ"]


def serve_deep_bootstrap_q() -> None:
    """Serve the plugin deep-bootstrap-q."""
    serve(DeepBootstrapQ)


def serve_deep_q() -> None:
    """Serve the plugin deep-q."""
    serve(DeepQ)


def serve_pqn() -> None:
    """Serve the plugin pqn."""
    serve(PQN)
