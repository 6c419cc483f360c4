"""Random draws that are the same whichever worker makes them."""

from __future__ import annotations

from cranfield._lazy import np
from cranfield.errors import UsageError


def generator(seed: int, *parts: int) -> np.random.Generator:
    """A generator of its own for a repetition; `parts` say which one it is."""
    if seed < 0:
        raise UsageError(f"rng={seed} is not a whole number from 0 on")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *parts])))
