"""SIMD vectors of sixteen single-precision numbers in compiled code: a Numba type and its arithmetic.

The compiler vectorises a loop over sixteen neighbours only when it can prove that arrays do not overlap, which is
rare. A value of this type is a vector register (or several, on a processor with narrow ones) by itself.
Only for use inside `numba.njit`:

    x = load(rows, 3) * 2.0 + load(rows, 4)   # rows: a C-contiguous float32 array; row i: elements 16 i .. 16 i + 15
    store(rows, 5, sqrt(x))

A plain number beside a vector is broadcast. Rests on Numba internals (`make_array`, typing templates).
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


class Simd16Type(types.Type):  # type: ignore[misc]
    """Type of a vector of `LANES` single-precision numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"lanes{LANES}")


simd16 = Simd16Type()


@register_model(Simd16Type)
class _Simd16Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _broadcast(builder: Any, value: Any) -> Any:
    """A vector with one number in every lane."""
    if value.type == ir.DoubleType():
        value = builder.fptrunc(value, _SINGLE)
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    none = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), none)


def _vector(builder: Any, value: Any) -> Any:
    return value if value.type == _VECTOR else _broadcast(builder, value)


_PAIRS = [(simd16, simd16)] + [p for s in (types.float64, types.float32) for p in ((simd16, s), (s, simd16))]


def _operation(op: Any, name: str) -> None:
    """Register `op` with Numba for two vectors, or a vector and a number."""

    @infer_global(op)
    class _Template(ConcreteTemplate):  # type: ignore[misc]
        cases = [signature(simd16, *pair) for pair in _PAIRS]  # noqa: RUF012

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


def _selection(compare: str) -> Callable[..., Any]:
    def typed(context: Any, a: Any, b: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            x, y = (_vector(builder, value) for value in args)
            return builder.select(builder.fcmp_ordered(compare, x, y), x, y)

        return simd16(a, b), code

    return typed


def _unary(name: str) -> Callable[..., Any]:
    def typed(context: Any, a: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.FunctionType(_VECTOR, [_VECTOR])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f32"), args)

        return simd16(a), code

    return typed


# Numba passes the context: callers pass one argument fewer.
maximum: _Compiled = intrinsic(_selection(">"))
minimum: _Compiled = intrinsic(_selection("<"))
sqrt: _Compiled = intrinsic(_unary("llvm.sqrt"))
absolute: _Compiled = intrinsic(_unary("llvm.fabs"))
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

    return simd16(array, types.intp), code


@_compiled
def store(context: Any, array: Any, row: Any, value: Any) -> Any:
    """Write a vector to row `row` of a float32 array."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _row(context, builder, sig.args[0], *args[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, simd16), code


@_compiled
def broadcast(context: Any, value: Any) -> Any:
    """The vector with `value` in every lane."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _broadcast(builder, args[0])

    return simd16(value), code


@_compiled
def noinline(context: Any) -> Any:
    """Mark the calling function as not to be inlined: its callers compile faster."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), code


@_compiled
def less_mask(context: Any, a: Any, b: Any) -> Any:
    """Bit mask of the lanes in which a < b."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x, y = (_vector(builder, value) for value in args)
        bits = builder.bitcast(builder.fcmp_ordered("<", x, y), ir.IntType(LANES))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(a, b), code


@_compiled
def where_less(context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """X in the lanes in which a < b, y in the others."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b, x, y = (_vector(builder, value) for value in args)
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    return simd16(a, b, x, y), code
