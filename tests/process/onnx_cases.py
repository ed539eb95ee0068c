"""Random programs with sharding specs, and what the model says of them: elementwise with up to three broadcast axes, reductions,
products with batches and biases, concatenation, specs of outputs; sizes 0 and 1, groups of devices, specs that are missing."""
import random
import re

from onnx_model import *

DEVICES = 8


def written(name, shape, spec, draw=None):
    """A spec as JSON. With `draw` now and then in another of the ways in which one spec may be written."""
    out = {"tensor_name": name}
    keys, entries = [], []
    as_list = draw and draw.random() < 0.3 and math.prod(spec.counts) == 1
    for shard in spec.shards:
        if as_list:
            entries = sorted(shard)
        elif len(shard) == 1 and not (draw and draw.random() < 0.3):
            entries.append(min(shard))
        else:
            keys.append({"key": -1 - 3 * len(keys), "value": sorted(shard, key=lambda d: draw.random() if draw else d)})
            entries.append(keys[-1]["key"])
    out["device"] = entries
    if keys:
        out["index_to_device_group_map"] = keys
    dims = []
    for a, n in enumerate(spec.counts):
        if n == 1 and not (draw and draw.random() < 0.1):
            continue
        simple = {"num_shards": n}
        if draw and draw.random() < 0.3:
            simple["dim_value"] = shape[a]
        elif draw and draw.random() < 0.2:
            simple["dim_param"] = "N"
        dims.append({"axis": a - len(shape) if draw and draw.random() < 0.3 else a, "simple_sharding": [simple]})
    if dims:
        out["sharded_dim"] = dims
    return out


def camel(value):
    """The names as protobuf writes them in JSON, and its numbers."""
    if isinstance(value, dict):
        return {re.sub("_(.)", lambda m: m[1].upper(), k): camel(v) for k, v in value.items()}
    if isinstance(value, list):
        return [camel(v) for v in value]
    return str(value) if isinstance(value, int) else value


class Case:
    def __init__(self, program, nodes, model, one=False):
        self.program, self.nodes, self.model, self.one = program, nodes, model, one

    def expected(self):
        try:
            return description_of(self.model())
        except Refused as refused:
            return refused.rule


def tensor(shape):
    return f"f32[{', '.join(map(str, shape))}]"


def random_spec(draw, shape, devices=DEVICES):
    counts = [1 if size == 1 or draw.random() < 0.5 else draw.choice([2, 2, 3, 4]) for size in shape]
    while math.prod(counts) > 8:
        counts[counts.index(max(counts))] = 1
    n = math.prod(counts)
    style = draw.random()
    pool = draw.sample(range(devices), devices)
    if style < 0.5 and n <= devices:  # each device has one shard
        copies = draw.randint(1, devices // n)
        return Spec(counts, [pool[s * copies:(s + 1) * copies] for s in range(n)])
    return Spec(counts, [draw.sample(range(devices), draw.randint(1, 4)) for _ in range(n)])


def grid_specs(draw, shapes):
    """Specs that compose: devices stand in a grid of blocks, and an input has a shard wherever it is needed."""
    rank = len(shapes[0])
    counts = [draw.choice([1, 2, 2]) if any(s[a] != 1 for s in shapes) else 1 for a in range(rank)]
    while math.prod(counts) > 4:
        counts[counts.index(2)] = 1
    pool = draw.sample(range(DEVICES), DEVICES)
    copies = draw.randint(1, DEVICES // math.prod(counts))
    blocks = list(itertools.product(*map(range, counts)))
    owners = {b: set(pool[k * copies:(k + 1) * copies]) for k, b in enumerate(blocks)}
    specs = []
    for shape in shapes:
        own = [c if shape[a] != 1 else 1 for a, c in enumerate(counts)]
        shards = [set().union(*(owners[b] for b in blocks if all(x == y or own[a] == 1 for a, (x, y) in enumerate(zip(b, at)))))
                  for at in itertools.product(*map(range, own))]
        if draw.random() < 0.1:  # one device more or less
            victim = draw.choice(shards)
            victim ^= {draw.randrange(DEVICES)}
            if not victim:
                victim.add(0)
        specs.append(None if draw.random() < 0.1 else Spec(own, shards))
    return specs


def dropped(shape, spec):
    """Without leading axes of size 1."""
    lead = next((a for a, size in enumerate(shape) if size != 1), len(shape))
    return shape[lead:], None if spec is None else Spec(spec.counts[lead:], spec.shards)


def random_n_ary(draw):
    rank = draw.randint(1, 3)
    whole = [draw.choice([1, 2, 4, 6, 8, 0]) if draw.random() < 0.9 else 3 for _ in range(rank)]
    shapes = [[size if draw.random() < 0.6 else 1 for size in whole] for _ in range(draw.choice([2, 2, 3]))]
    specs = grid_specs(draw, shapes) if draw.random() < 0.6 else [
        None if draw.random() < 0.15 else random_spec(draw, s) for s in shapes]
    result = [0 if any(s[a] == 0 for s in shapes) else max(s[a] for s in shapes) for a in range(rank)]
    names, reads, inputs, given, complete = "ABC", [], [], [], False
    for name, shape, spec in zip(names, shapes, specs):
        own, own_spec = (shape, spec) if draw.random() < 0.7 else dropped(shape, spec)
        index = ["ijk"[a] if shape[a] != 1 or result[a] == 1 else "0" for a in range(rank - len(own), rank)]
        reads.append(f"{name}[{', '.join(index)}]")
        complete = complete or len(own) == rank  # std's add has no axes but those of its inputs
        inputs.append(f"{name}: {tensor(own)}")
        if spec is not None:
            given.append(written(name, own, own_spec, draw))
    if len(reads) == 2 and complete and draw.random() < 0.5:
        body = "Y = add(A, B)"
    else:
        body = f"Y[{', '.join('ijk'[:rank])}] = {' + '.join(reads)}"
    program = f"use std\nprogram p({', '.join(inputs)}) -> (Y: {tensor(result)}) {{ {body} }}\n"
    return Case(program, {"Y": given}, lambda: n_ary(list(zip(shapes, specs))))


def random_unary(draw):
    shape = [draw.choice([0, 1, 2, 5, 8]) for _ in range(draw.randint(0, 3))]
    spec = random_spec(draw, shape)
    program = f"use std\nprogram p(X: {tensor(shape)}) -> (Y: {tensor(shape)}) {{ H = exp(X)\n Y = abs(H) }}\n"
    return Case(program, {"H": [written("X", shape, spec, draw)]}, lambda: spec)


def random_reduction(draw):
    shape = [draw.choice([0, 1, 2, 6, 8]) for _ in range(draw.randint(1, 3))]
    spec = random_spec(draw, shape)
    axes = sorted(draw.sample(range(len(shape)), draw.randint(1, len(shape))))
    keep, one = draw.random() < 0.5, draw.random() < 0.3
    left = [("0" if a in axes else "ijk"[a], 1 if a in axes else n) for a, n in enumerate(shape) if keep or a not in axes]
    program = (f"program p(X: {tensor(shape)}) -> (Y: {tensor([n for _, n in left])}) {{ Y[{', '.join(i for i, _ in left)}] = "
               f"{draw.choice(['sum', 'max'])}[{', '.join('ijk'[a] for a in axes)}] X[{', '.join('ijk'[:len(shape)])}] }}\n")
    return Case(program, {"Y": [written("X", shape, spec, draw)]}, lambda: reduce(shape, spec, axes, keep, one), one)


def random_matmul(draw):
    m, k, n, b = (draw.choice([1, 2, 4, 6, 8]) for _ in range(4))
    if draw.random() < 0.1:
        m = 0
    batch = draw.choice(["", "a", "ab"])
    a_shape, b_shape = ([b] if batch else []) + [m, k], ([b] if batch == "ab" else []) + [k, n]
    a_full, b_full = a_shape[:-2] + [m, k, 1], [b if batch == "ab" else 1] * len(batch[:1]) + [1, k, n]
    if draw.random() < 0.6:
        fa, fb = grid_specs(draw, [a_full, b_full])
        a = fa and Spec(fa.counts[:-1], fa.shards)
        lead = [fb.counts[0]] if fb and batch == "ab" else []
        w = fb and Spec(lead + fb.counts[-2:], fb.shards)
    else:
        a, w = random_spec(draw, a_shape), random_spec(draw, b_shape)
    one = draw.random() < 0.3
    y = ([b] if batch else []) + [m, n]
    program = (f"program p(A: {tensor(a_shape)}, B: {tensor(b_shape)}) -> (Y: {tensor(y)}) {{ Y[{'b, ' if batch else ''}i, j] = "
               f"sum[k] A[{'b, ' if batch else ''}i, k] * B[{'b, ' if batch == 'ab' else ''}k, j] }}\n")
    given = [written(t, s, x, draw) for t, s, x in (("A", a_shape, a), ("B", b_shape, w)) if x]
    return Case(program, {"Y": given}, lambda: matmul(a_shape, a, b_shape, w, one), one)


def random_gemm(draw):
    """Product, then bias: each operation by its rule."""
    m, k, n = (draw.choice([2, 4, 6]) for _ in range(3))
    fa, fb = grid_specs(draw, [[m, k, 1], [1, k, n]])
    a, w = fa and Spec(fa.counts[:2], fa.shards), fb and Spec(fb.counts[1:], fb.shards)
    shape = draw.choice([[n], [m, n], [1, n], [m, 1]])
    try:
        p = matmul([m, k], a, [k, n], w)
    except Refused:
        p = None
    full = [1] * (2 - len(shape)) + shape
    bias = None
    if p is not None and draw.random() < 0.7:
        counts = [c if full[x] != 1 else 1 for x, c in enumerate(p.counts)]
        shards = [set().union(*(p.at(at) for at in itertools.product(*map(range, p.counts))
                                if all(x == y or counts[z] == 1 for z, (x, y) in enumerate(zip(at, b)))))
                  for b in itertools.product(*map(range, counts))]
        bias = Spec(counts, shards)
    elif draw.random() < 0.7:
        bias = random_spec(draw, full)
    index = ["0" if size == 1 else "ij"[a + 2 - len(shape)] for a, size in enumerate(shape)]
    program = (f"program p(A: {tensor([m, k])}, B: {tensor([k, n])}, C: {tensor(shape)}) -> (Y: {tensor([m, n])}) "
               f"{{ Y[i, j] = C[{', '.join(index)}] + sum[k] A[i, k] * B[k, j] }}\n")
    own = bias and Spec(bias.counts[2 - len(shape):], bias.shards)
    given = [written(t, s, x, draw) for t, s, x in (("A", [m, k], a), ("B", [k, n], w), ("C", shape, own)) if x]
    return Case(program, {"Y": given}, lambda: n_ary([(full, bias), ([m, n], matmul([m, k], a, [k, n], w))]))


def random_concat(draw):
    rank, parts = draw.randint(1, 2), draw.choice([2, 2, 3])
    axis = draw.randrange(rank)
    whole = [draw.choice([2, 4, 6]) for _ in range(rank)]
    shapes = [[draw.choice([2, 3, 4]) if a == axis else n for a, n in enumerate(whole)] for _ in range(parts)]
    counts = [draw.choice([1, 1, 2]) for _ in range(rank)]
    n = math.prod(counts)

    def spec():
        if draw.random() < 0.5:
            return Spec(counts, [{0, 1, 2} | {draw.randrange(DEVICES)} for _ in range(n)])
        return Spec(counts, [{s, draw.randrange(DEVICES)} for s in range(n)])

    specs = [spec() for _ in shapes]
    if draw.random() < 0.1:
        specs[0] = random_spec(draw, shapes[0])
    start, body = 0, []
    for k, shape in enumerate(shapes):
        left = ["ij"[a] if a != axis else f"{start} + {'ij'[a]}" for a in range(rank)]
        body.append(f"Y[{', '.join(left)}] = {'ABC'[k]}[{', '.join('ij'[:rank])}] for {'ij'[axis]} in 0..{shape[axis]}")
        start += shape[axis]
    result = [start if a == axis else n for a, n in enumerate(whole)]
    program = (f"program p({', '.join(f'{t}: {tensor(s)}' for t, s in zip('ABC', shapes))}) -> (Y: {tensor(result)}) {{\n"
               + "\n".join(body) + "\n}\n")
    given = [written(t, s, x, draw) for t, s, x in zip("ABC", shapes, specs)]
    return Case(program, {"Y": given}, lambda: concat(axis, list(zip(shapes, specs))))


def random_output(draw):
    """A spec of an output "does not have to be consistent with the input sharding spec of the node", and what reads it
    follows it."""
    shape = [draw.choice([2, 4, 6]) for _ in range(2)]
    x, h = random_spec(draw, shape), random_spec(draw, shape)
    program = f"use std\nprogram p(X: {tensor(shape)}) -> (Y: {tensor(shape)}) {{ H = exp(X)\n Y = abs(H) }}\n"
    return Case(program, {"H": [written("X", shape, x, draw), written("H", shape, h, draw)]}, lambda: h)


KINDS = [random_n_ary] * 4 + [random_unary, random_reduction, random_matmul, random_matmul, random_gemm, random_concat,
                              random_output]
