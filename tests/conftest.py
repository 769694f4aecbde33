"""What several test files share: the two paths that must agree, and small arrays."""

from __future__ import annotations

import numpy as np
import pytest

import clearhead as ch
from clearhead.core import steps


@pytest.fixture(params=["plain", "fused"])
def attention(request):
    """``ch.attention`` and its judge: a value that is right must be right in both."""
    return steps.attention if request.param == "plain" else ch.attention


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def column():
    """Values of one head, one column: column(0, 1, 2) has shape (1, 1, 3, 1)."""

    def make(*numbers, kind=np.float64):
        return np.array(numbers, kind).reshape(1, 1, len(numbers), 1)

    return make


@pytest.fixture
def zeros():
    """Queries or keys that give every pair the score 0: zeros(3) has shape (1, 1, 3, 1)."""

    def make(count, batch=1, heads=1, width=1, kind=np.float64):
        return np.zeros((batch, heads, count, width), kind)

    return make
