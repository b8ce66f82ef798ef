"""Arithmetic of sixteen lanes against numpy, operation by operation."""

import operator
import types

import numba
import numpy as np
import pytest

from telerobot_nodes.cspace.simd.simd16 import (
    LANES,
    absolute,
    broadcast,
    floor,
    less_mask,
    load,
    maximum,
    minimum,
    sqrt,
    store,
    where_less,
)

A = np.linspace(-2.0, 2.5, LANES).astype(np.float32)
B = np.linspace(3.0, -1.2, LANES).astype(np.float32)


def applied(function, *rows):
    """`function` of vectors, compiled, as an array."""
    plain = isinstance(function, types.FunctionType)  # else an intrinsic or a builtin, known to Numba as it is
    compiled, count = numba.njit(function) if plain else function, len(rows)
    memory = np.concatenate([*rows, np.zeros(LANES, np.float32)])

    @numba.njit
    def run(memory):
        if count == 1:
            store(memory, count, compiled(load(memory, 0)))
        else:
            store(memory, count, compiled(load(memory, 0), load(memory, 1)))

    run(memory)
    return memory[count * LANES :]


@pytest.mark.parametrize("function", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_operators_are_those_of_numbers(function):
    assert applied(function, A, B) == pytest.approx(function(A, B), rel=1e-6)


@pytest.mark.parametrize(("ours", "theirs"), [(maximum, np.maximum), (minimum, np.minimum)])
def test_maximum_and_minimum(ours, theirs):
    assert applied(ours, A, B).tolist() == theirs(A, B).tolist()


@pytest.mark.lengthy
def test_functions_of_one_vector():
    assert applied(absolute, A).tolist() == np.abs(A).tolist()
    assert applied(floor, A).tolist() == np.floor(A).tolist()
    assert applied(lambda a: sqrt(absolute(a)), A) == pytest.approx(np.sqrt(np.abs(A)))


@pytest.mark.lengthy
def test_a_number_stands_for_every_lane():
    assert applied(lambda a: 2.0 * a + 1.0, A) == pytest.approx(2.0 * A + 1.0)
    assert applied(lambda a: broadcast(0.5) + a * 0.0, A).tolist() == [0.5] * LANES


def test_a_choice_lane_by_lane():
    assert applied(lambda a, b: where_less(a, b, a, b), A, B).tolist() == np.where(A < B, A, B).tolist()


def test_the_mask_has_a_bit_for_each_lane_that_is_less():
    @numba.njit
    def mask(memory):
        return less_mask(load(memory, 0), load(memory, 1))

    bits = mask(np.concatenate([A, B]))
    assert [bool(bits & (1 << lane)) for lane in range(LANES)] == (A < B).tolist()
