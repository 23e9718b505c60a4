"""Agents with networks, in JAX: ``pip install 'rlrun[deep]'``. docs/deep.md is their guide.

A config names them ``deep-bootstrap-q``, ``deep-q`` and ``pqn``; `rlrun.run` also takes the classes.
"""

from rlrun import _jax

_jax.need("agents with networks need")

from rlrun.agents.deep import DeepBootstrapQ, DeepQ  # noqa: E402
from rlrun.agents.pqn import PQN  # noqa: E402
from rlrun.serve import serve  # noqa: E402

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
