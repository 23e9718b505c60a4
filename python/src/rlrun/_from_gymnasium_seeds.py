"""How many bits of a seed an environment of Gymnasium takes, and how rlrun's seeds of 64 bits are narrowed to them."""

from __future__ import annotations

import hashlib
from typing import Any

import gymnasium

WIDTHS = (64, 32, 31)
"""The widths that are tried: Gymnasium's own generators, numpy's RandomState and C's unsigned int, C's int."""


def seed_bits(env: gymnasium.Env[Any, Any], options: dict[str, Any] | None = None) -> int:
    """Return the largest of WIDTHS whose seeds an environment takes. It is reset with these options.

    An environment that fails whatever the seed raises the exception of its last attempt.
    """
    for bits in WIDTHS[:-1]:
        try:
            env.reset(seed=2**bits - 1, options=options)
        except Exception:  # it says in whatever way it likes that the seed is too large
            continue
        return bits
    env.reset(seed=2 ** WIDTHS[-1] - 1, options=options)
    return WIDTHS[-1]


def narrow(seed: int, bits: int) -> int:
    """Return a seed of 64 bits as one of fewer: the first bits of its BLAKE2b digest, the seed itself if bits is 64."""
    if bits == 64:
        return seed
    digest = hashlib.blake2b(seed.to_bytes(8, "little"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> (64 - bits)
