"""Heads apart, heads side by side, and the parts of the layer against the layer."""

import numpy as np

import clearhead as ch
from clearhead.layer.heads import attend, join_heads, project, split_heads
from clearhead.layer.multihead import multi_head_attention


def numbers(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_splitting_and_joining_heads_are_inverse_and_copy_nothing(rng):
    x = numbers(rng, 2, 3, 8)
    apart = split_heads(x, 4)
    assert apart.shape == (2, 4, 3, 2)
    assert np.shares_memory(apart, x)
    np.testing.assert_array_equal(apart[:, 1, :, 0], x[..., 2])
    np.testing.assert_array_equal(join_heads(apart), x)


def test_the_parts_make_the_whole(rng):
    x, w = numbers(rng, 2, 3, 24), ch.MultiHeadAttention(24, 4).weights
    query, key, value = (split_heads(project(x, w, name), 4) for name in "qkv")
    np.testing.assert_array_equal(attend(query, key, value, w), multi_head_attention(x, w, 4))
