"""JAX as plugins use it: how it is imported, and what results depend on besides the code."""

from __future__ import annotations

import os
import sys
from typing import Any

_XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
"""One thread a computation: more cores are used by more runs at a time."""


def need(what: str) -> None:
    """Import JAX, or say what needs it and which command installs it.

    It is called before anything else imports JAX, which reads its variables then.

    Args:
        what: The beginning of the sentence, such as "agents with networks need".

    Raises:
        SystemExit: There is no JAX, in a process that rlrun started.
        ImportError: There is no JAX elsewhere.

    """
    if "RLRUN_PLUGIN" in os.environ:  # rlrun started this process
        os.environ.setdefault("XLA_FLAGS", _XLA)
    try:
        import jax  # noqa: F401, PLC0415  it may not be there
    except ImportError as e:
        needs = f"{what} JAX, which {sys.executable} does not have: pip install 'rlrun[deep]'"
        if "RLRUN_PLUGIN" in os.environ:
            sys.exit(needs)
        raise ImportError(needs) from e


def facts() -> dict[str, str]:
    """Return the device on which JAX computes, "cpu" or the name of a GPU, and settings by which numbers differ."""
    import jax  # noqa: PLC0415

    usual: dict[str, Any] = {"JAX_ENABLE_X64": False, "JAX_DISABLE_JIT": False, "JAX_DEFAULT_MATMUL_PRECISION": None}
    usual |= {"XLA_FLAGS": _XLA, "NVIDIA_TF32_OVERRIDE": None}  # as a plugin has it
    told = {name: getattr(jax.config, name.lower(), os.environ.get(name)) for name in usual}
    differs = {name: str(value) for name, value in told.items() if value != usual[name]}
    return {"device": jax.devices()[0].device_kind, **differs}
