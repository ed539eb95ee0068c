"""Matrix and tensor products."""

import numpy as np

from draw import NUMBERS, draw, wide


def product(spec, dtype, *arrays):
    return np.einsum(spec, *[wide(a) for a in arrays]).astype(dtype)


def fill(table):
    for dtype in NUMBERS + [np.float16]:
        for lead, k, o in [((2,), 3, 4), ((), 3, 2), ((2, 3), 1, 1), ((3,), 0, 2), ((0,), 2, 2), ((1, 2, 2), 5, 3)]:
            x, w, b = draw(dtype, *lead, k), draw(dtype, k, o), draw(dtype, o)
            table.add("matmul", "", [x, w], (wide(x) @ wide(w)).astype(dtype))
            table.add("linear", "", [x, w, b], (wide(x) @ wide(w) + wide(b)).astype(dtype))
            table.add("matmul_transposed", "", [x, np.array(w.T, order="C")], (wide(x) @ wide(w)).astype(dtype))
            table.add("products", "", [x, w], product("...k,ko->...ko", dtype, x, w))
        for p, q in [((2,), (2,)), ((), (3,)), ((3,), ()), ((2, 1), (3,)), ((0,), ()), ((), ())]:
            x, w = draw(dtype, *p, 2, 3), draw(dtype, *q, 3, 4)
            table.add("batch_matmul", "", [x, w], np.matmul(wide(x), wide(w)).astype(dtype))
        for p, q in [((2,), (3,)), ((), (3,)), ((2, 3), ()), ((2,), (0, 2))]:
            x, z = draw(dtype, *p), draw(dtype, *q)
            table.add("outer", "", [x, z], np.multiply.outer(wide(x), wide(z)).astype(dtype))
        for n in (5, 1, 0):
            x, z = draw(dtype, n), draw(dtype, n)
            table.add("dot", "", [x, z], np.dot(wide(x), wide(z)).astype(dtype))
        for shape in [(2, 3), (), (0,), (2, 1, 3)]:
            x, z = draw(dtype, *shape), draw(dtype, *shape)
            table.add("inner", "", [x, z], (wide(x) * wide(z)).sum().astype(dtype))
        for lead, m, n in [((), 3, 4), ((2,), 1, 3), ((2, 2), 2, 0), ((), 0, 2)]:
            w, x, v = draw(dtype, *lead, m, n), draw(dtype, n), draw(dtype, m)
            table.add("matvec", "", [w, x], (wide(w) @ wide(x)).astype(dtype))
            if not lead:
                table.add("vecmat", "", [v, w], (wide(v) @ wide(w)).astype(dtype))
        for shape in [(3, 3), (2, 4, 4), (0, 0), (1, 1)]:
            x = draw(dtype, *shape)
            table.add("trace", "", [x], np.trace(wide(x), axis1=-2, axis2=-1).astype(dtype))
            table.add("diagonal", "", [x], np.diagonal(x, axis1=-2, axis2=-1))
        for axis in (-1, -2, -3):
            x = draw(dtype, 2, 3, 4)
            u = draw(dtype, 5, x.shape[axis])
            expected = np.moveaxis(np.tensordot(wide(u), wide(x), axes=(1, axis)), 0, axis)
            table.add("ttm", f"{axis}", [x, u], expected.astype(dtype))
        for l, m, n, r in [(2, 3, 4, 5), (1, 1, 1, 1), (3, 0, 2, 2), (2, 3, 2, 0)]:
            x, b, c = draw(dtype, l, m, n), draw(dtype, m, r), draw(dtype, n, r)
            for op in ("mttkrp", "mttkrp_by_steps"):
                table.add(op, "", [x, b, c], product("ijk,jr,kr->ir", dtype, x, b, c))
