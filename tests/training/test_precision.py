"""The kind of the products: as told, or whichever is faster here."""

import pytest
import torch

from clearhead.training.precision import product_kind


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_what_is_told_is_taken(precision):
    assert product_kind(precision, torch.device("cpu")) is getattr(torch, precision)


def test_auto_chooses_one_of_the_two():
    assert product_kind("auto", torch.device("cpu")) in (torch.float32, torch.bfloat16)
    assert product_kind("auto", torch.device("meta")) is torch.bfloat16
