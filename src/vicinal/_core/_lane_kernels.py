"""SIMD vectors for kernels: the values of one cache line, on which operations act at once.

numba compiles operations on a few adjacent values to scalar instructions, even if they are written one after
the other. LLVM has a type for vectors, and compiles operations on it to the widest vector instructions of the
processor. Each value of a vector is a lane. An array of vectors is flat: 8 doubles or 16 floats per row,
those of row i at position 8 i or 16 i.

>>> import numpy as np
>>> from numba import njit
>>> from vicinal._core._lane_kernels import count_lanes, load, store
>>> @njit
... def double_rows(x):
...     for i in range(len(x) // 8):
...         store(x, i, 2.0 * load(x, i))
>>> x = np.ones(count_lanes(np.float64))
>>> double_rows(x)
>>> x
array([2., 2., 2., 2., 2., 2., 2., 2.])
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

BYTES = 64

_int32, _int64 = ir.IntType(32), ir.IntType(64)


def count_lanes(dtype: Any) -> int:
    """Number of values in a vector of lanes."""
    return BYTES // np.dtype(dtype).itemsize


class Lanes(types.Type):
    """Type of a vector of lanes."""

    def __init__(self, dtype, width):
        self.dtype, self.width = dtype, width
        super().__init__(name=f"Lanes({dtype}, {width})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        scalar = ir.FloatType() if lanes.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, lanes, ir.VectorType(scalar, lanes.width))


def _lanes_of(array):
    return Lanes(array.dtype, BYTES * 8 // array.dtype.bitwidth)


def _pointer(context, builder, array_type, array, position, lanes):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(
        builder.gep(data, [position]), context.get_value_type(lanes).as_pointer()
    )


def _start_of_row(builder, row, lanes):
    return builder.mul(row, ir.Constant(_int64, lanes.width))


def _load(context, builder, array_type, array, position, lanes):
    value = builder.load(_pointer(context, builder, array_type, array, position, lanes))
    value.align = array_type.dtype.bitwidth // 8
    return value


@intrinsic
def load(typing_context, array, row):
    """The lanes of a row of a flat array."""
    lanes = _lanes_of(array)

    def generate(context, builder, signature, args):
        position = _start_of_row(builder, args[1], lanes)
        return _load(context, builder, array, args[0], position, lanes)

    return lanes(array, types.int64), generate


@intrinsic
def load_from(typing_context, array, position):
    """The lanes of a contiguous array from any position of its flat form on."""
    lanes = _lanes_of(array)

    def generate(context, builder, signature, args):
        return _load(context, builder, array, *args, lanes)

    return lanes(array, types.int64), generate


@intrinsic
def store(typing_context, array, row, lanes):
    """Write lanes to a row of a flat array."""

    def generate(context, builder, signature, args):
        position = _start_of_row(builder, args[1], lanes)
        target = _pointer(context, builder, array, args[0], position, lanes)
        builder.store(args[2], target).align = array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), generate


@intrinsic
def zeros_like(typing_context, lanes):
    """Zeros of the same type."""

    def generate(context, builder, signature, args):
        return ir.Constant(context.get_value_type(lanes), None)

    return lanes(lanes), generate


@intrinsic
def flush(typing_context, lanes):
    """Set values near the smallest normal number to 0, because denormal numbers are slow."""
    smallest = 1e-30 if lanes.dtype == types.float32 else 1e-290

    def generate(context, builder, signature, args):
        kind = context.get_value_type(lanes)
        limit, zero = ir.Constant(kind, [smallest] * lanes.width), ir.Constant(kind, None)
        is_small = builder.and_(
            builder.fcmp_ordered("<", args[0], limit),
            builder.fcmp_ordered(">", args[0], builder.fneg(limit)),
        )
        return builder.select(is_small, zero, args[0])

    return lanes(lanes), generate


@intrinsic
def wide(typing_context, lanes):
    """The same values as doubles, for sums of many."""
    doubles = Lanes(types.float64, lanes.width)

    def generate(context, builder, signature, args):
        if lanes.dtype == types.float64:
            return args[0]
        return builder.fpext(args[0], context.get_value_type(doubles))

    return doubles(lanes), generate


@intrinsic
def magnitude(typing_context, lanes):
    """Absolute values."""

    def generate(context, builder, signature, args):
        kind = context.get_value_type(lanes)
        name = f"llvm.fabs.v{lanes.width}f{lanes.dtype.bitwidth}"
        function = ir.FunctionType(kind, [kind])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), args)

    return lanes(lanes), generate


@intrinsic
def larger(typing_context, lanes, others):
    """The larger value in each lane; that of ``lanes`` if the other is NaN."""

    def generate(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", args[1], args[0]), args[1], args[0])

    return lanes(lanes, lanes), generate


def _in_lanes(context, builder, value, given, lanes):
    """The value itself if it is a vector of lanes, otherwise a number in all lanes."""
    if isinstance(given, Lanes):
        return value
    scalar = context.cast(builder, value, given, lanes.dtype)
    return _splat(builder, scalar, context.get_value_type(lanes))


def _splat(builder, scalar, kind):
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(_int32, 0))
    mask = ir.Constant(ir.VectorType(_int32, kind.count), None)
    return builder.shuffle_vector(first, undefined, mask)


@intrinsic
def which_below(typing_context, lanes, limits):
    """Bits of the lanes that are below their limits, that of the first lane lowest."""

    def generate(context, builder, signature, args):
        limits_in_lanes = _in_lanes(context, builder, args[1], limits, lanes)
        mask = builder.fcmp_ordered("<", args[0], limits_in_lanes)
        bits = builder.bitcast(mask, ir.IntType(lanes.width))
        return builder.zext(bits, _int64)

    return types.int64(lanes, limits), generate


@intrinsic
def only_below(typing_context, lanes, limit):
    """Lanes that are below a limit; -inf in all others."""

    def generate(context, builder, signature, args):
        kind = context.get_value_type(lanes)
        mask = builder.fcmp_ordered(
            "<", args[0], _in_lanes(context, builder, args[1], limit, lanes)
        )
        return builder.select(mask, args[0], ir.Constant(kind, [-np.inf] * lanes.width))

    return lanes(lanes, limit), generate


@intrinsic
def largest_of(typing_context, lanes):
    """The largest value of all lanes, none of which is NaN."""

    def generate(context, builder, signature, args):
        kind = context.get_value_type(lanes)
        name = f"llvm.vector.reduce.fmax.v{lanes.width}f{lanes.dtype.bitwidth}"
        function = ir.FunctionType(kind.element, [kind])
        reduce = cgutils.get_or_insert_function(builder.module, function, name)
        return builder.call(reduce, args, fastmath=("nnan",))

    return lanes.dtype(lanes), generate


@intrinsic
def first_bit(typing_context, bits):
    """Position of the lowest bit that is set; there must be one."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _define(function, instruction):
    """Arithmetic of lanes with lanes, or with a number of any type."""

    @type_callable(function)
    def result(context):
        def typer(left, right):
            if not isinstance(left, Lanes) and not isinstance(right, Lanes):
                return None
            if left == right or isinstance(right, types.Number):
                return left
            return right if isinstance(left, types.Number) else None

        return typer

    @lower_builtin(function, Lanes, Lanes)
    @lower_builtin(function, Lanes, types.Number)
    @lower_builtin(function, types.Number, Lanes)
    def generate(context, builder, signature, args):
        lanes = signature.return_type
        values = [
            _in_lanes(context, builder, value, given, lanes)
            for value, given in zip(args, signature.args, strict=True)
        ]
        # A product and a sum may become one instruction.
        return getattr(builder, instruction)(*values, flags=("contract",))


for _function, _instruction in (
    (operator.add, "fadd"),
    (operator.iadd, "fadd"),
    (operator.sub, "fsub"),
    (operator.isub, "fsub"),
    (operator.mul, "fmul"),
):
    _define(_function, _instruction)
