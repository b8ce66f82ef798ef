"""Sixteen numbers at once in compiled code: a Numba type that is one vector of the processor, and its arithmetic.

Loops over sixteen neighbours are vectorised by the compiler only when it can prove that arrays do not overlap, which
it rarely can. A value of this type is a vector register (or several, on a processor with narrow ones) by itself.
Use inside `numba.njit` alone:

    x = load(rows, 3) * 2.0 + load(rows, 4)   # rows: a C-contiguous float32 array; row i are its numbers 16 i ..
    store(rows, 5, sqrt(x))

A plain number beside a vector counts for every lane. Single precision throughout.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array

LANES = 16
_FLAGS = ("contract", "nsz", "arcp")
_SINGLE = ir.FloatType()
_VECTOR = ir.VectorType(_SINGLE, LANES)


class LanesType(types.Type):  # type: ignore[misc]
    """Type of a vector of `LANES` single-precision numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"lanes{LANES}")


lanes = LanesType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _spread(builder: Any, value: Any) -> Any:
    """One number in every lane."""
    if value.type == ir.DoubleType():
        value = builder.fptrunc(value, _SINGLE)
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    none = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), none)


def _vector(builder: Any, value: Any) -> Any:
    return value if value.type == _VECTOR else _spread(builder, value)


_PAIRS = [(lanes, lanes)] + [p for s in (types.float64, types.float32) for p in ((lanes, s), (s, lanes))]


def _operation(op: Any, name: str) -> None:
    """Teach Numba `op` of two vectors, or a vector and a number."""

    @infer_global(op)
    class _Template(ConcreteTemplate):  # type: ignore[misc]
        cases = [signature(lanes, *pair) for pair in _PAIRS]  # noqa: RUF012

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (_vector(builder, value) for value in args)
        return getattr(builder, name)(a, b, flags=_FLAGS)

    for pair in _PAIRS:
        lower_builtin(op, *pair)(lower)


for _op, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    _operation(_op, _name)


_Compiled = Callable[..., Any]


def _compiled(function: _Compiled) -> _Compiled:
    """An intrinsic of this name."""
    made: _Compiled = intrinsic(function)
    return made


def _choice(compare: str) -> Callable[..., Any]:
    def typed(context: Any, a: Any, b: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            x, y = (_vector(builder, value) for value in args)
            return builder.select(builder.fcmp_ordered(compare, x, y), x, y)

        return lanes(a, b), code

    return typed


def _unary(name: str) -> Callable[..., Any]:
    def typed(context: Any, a: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.FunctionType(_VECTOR, [_VECTOR])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f32"), args)

        return lanes(a), code

    return typed


# Numba passes the context itself: what is seen here has one argument fewer.
most: _Compiled = intrinsic(_choice(">"))
least: _Compiled = intrinsic(_choice("<"))
sqrt: _Compiled = intrinsic(_unary("llvm.sqrt"))
magnitude: _Compiled = intrinsic(_unary("llvm.fabs"))
floor: _Compiled = intrinsic(_unary("llvm.floor"))


def _row(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Any:
    data = make_array(kind)(context, builder, array).data
    offset = builder.mul(row, ir.Constant(row.type, 4 * LANES))
    return cgutils.pointer_add(builder, data, offset, _VECTOR.as_pointer())


@_compiled
def load(context: Any, array: Any, row: Any) -> Any:
    """Row `row` of a float32 array as a vector."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_row(context, builder, sig.args[0], *args), align=4)

    return lanes(array, types.intp), code


@_compiled
def store(context: Any, array: Any, row: Any, value: Any) -> Any:
    """A vector into row `row` of a float32 array."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _row(context, builder, sig.args[0], *args[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), code


@_compiled
def spread(context: Any, value: Any) -> Any:
    """A number in every lane."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, args[0])

    return lanes(value), code


@_compiled
def apart(context: Any) -> Any:
    """The function this stands in is called, not copied into its callers: they compile faster."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), code


@_compiled
def below(context: Any, a: Any, b: Any) -> Any:
    """Bits of the lanes in which a < b; 0: in none."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x, y = (_vector(builder, value) for value in args)
        bits = builder.bitcast(builder.fcmp_ordered("<", x, y), ir.IntType(LANES))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(a, b), code


@_compiled
def where_below(context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """Of x the lanes in which a < b, of y the others."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b, x, y = (_vector(builder, value) for value in args)
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    return lanes(a, b, x, y), code
