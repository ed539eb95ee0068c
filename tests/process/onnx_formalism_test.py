#!/usr/bin/python3
"""The verdict, the rule that is broken and the specs that are inferred, against a model that was written from ONNX's text
alone (onnx_model.py): cases by hand, and random ones.

    TAP_FORMALISM_CASES=5000 TAP_FORMALISM_SEED=7 onnx_formalism_test.py TAPC        a long run"""
import json
import os
import random
import re

from onnx_model import *
from tapc import *

CASES = int(os.environ.get("TAP_FORMALISM_CASES", "150"))
SEED = int(os.environ.get("TAP_FORMALISM_SEED", "1"))
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
            return places(self.model())
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

A8x1, B1x6 = "A: f32[8, 1]", "B: f32[1, 6]"
TABLE = [  # inputs, shapes, specs of an n-ary operation, outcome
    ([[1, 1], [8, 6]], [Spec([1, 1], [{1, 2}]), Spec([1, 1], [{1}])], "{device = [1]}"),
    ([[8, 1], [1, 6]], [Spec([1, 1], [{0, 1}]), Spec([1, 1], [{2, 3}])], "composable"),
    ([[8, 1], [1, 6]], [Spec([1, 1], [{0, 1, 2, 3}]), Spec([1, 1], [{0, 1}])], "broadcast-replicated"),
    ([[8, 1], [1, 6]], [Spec([2, 1], [{0, 1}, {2, 3}]), Spec([1, 2], [{0, 2}, {1, 3}])],
     "{device = [0, 1, 2, 3], sharded_dim = [axis 0 in 2, axis 1 in 2]}"),
    ([[8, 1], [1, 6]], [Spec([2, 1], [{0, 1}, {2, 3}]), Spec([1, 2], [{0, 1}, {2, 3}])], "composable"),
    ([[8, 6], [8, 6]], [Spec([2, 1], [{0}, {1}]), Spec([1, 2], [{0}, {1}])], "same-sharding"),
    ([[8, 6], [8, 6]], [Spec([2, 1], [{0}, {1}]), Spec([2, 1], [{1}, {0}])], "same-sharding"),
    ([[8, 6], [8, 6]], [Spec([1, 1], [{0}]), Spec([1, 1], [{1}])], "same-sharding"),
    ([[8, 6], [1, 6]], [Spec([2, 1], [{0}, {1}]), Spec([1, 1], [{0}])], "broadcast-replicated"),
    ([[8, 6], [1, 6]], [Spec([2, 1], [{0}, {1}]), Spec([1, 1], [{0, 1}])], "{device = [0, 1], sharded_dim = [axis 0 in 2]}"),
    ([[8, 6], [1, 1]], [Spec([1, 1], [{0, 1}]), Spec([1, 1], [{1}])], "broadcast-replicated"),
    ([[8, 6], [1, 1]], [Spec([1, 1], [{0, 1}]), Spec([1, 1], [{2}])], "composable"),
    ([[1, 1], [1, 1]], [Spec([1, 1], [{0, 1}]), Spec([1, 1], [{0, 1}])], "{device = [-1], index_to_device_group_map = {-1: [0, 1]}}"),
    ([[1, 1], [1, 1]], [Spec([1, 1], [{0, 1}]), Spec([1, 1], [{1}])], "same-sharding"),
    ([[0, 4], [0, 4]], [Spec([2, 1], [{0}, {1}]), Spec([2, 1], [{0}, {1}])], "{device = [0, 1], sharded_dim = [axis 0 in 2]}"),
    ([[0, 4], [1, 4]], [Spec([2, 1], [{0}, {1}]), Spec([1, 1], [{0, 1}])], "{device = [0, 1], sharded_dim = [axis 0 in 2]}"),
    ([[8, 1, 1], [1, 6, 1], [1, 1, 4]],
     [Spec([2, 1, 1], [{0, 1, 2, 3}, {4, 5, 6, 7}]), Spec([1, 2, 1], [{0, 1, 4, 5}, {2, 3, 6, 7}]),
      Spec([1, 1, 2], [{0, 2, 4, 6}, {1, 3, 5, 7}])],
     "{device = [0, 1, 2, 3, 4, 5, 6, 7], sharded_dim = [axis 0 in 2, axis 1 in 2, axis 2 in 2]}"),
    ([[8, 6], [1, 6], [8, 1]], [Spec([2, 1], [{0}, {1}]), None, Spec([2, 1], [{0}, {1}])],
     "{device = [0, 1], sharded_dim = [axis 0 in 2]}"),
]

X = {"tensor_name": "X"}
FORMS = [  # a spec of X: f32[8, 6, 1] that is malformed, its rule, and the part of it that the message points to
    ({"device": []}, "device-list", "device"),
    ({"device": [8]}, "device-list", "device"),
    ({"device": [1, 1]}, "device-list", "device"),
    ({"device": [-1]}, "device-group", "device"),
    ({"device": [-1], "index_to_device_group_map": [{"key": -1, "value": []}]}, "device-group", "index_to_device_group_map"),
    ({"device": [-1], "index_to_device_group_map": [{"key": -1, "value": [8]}]}, "device-list", "index_to_device_group_map"),
    ({"device": [-1], "index_to_device_group_map": [{"key": -1, "value": [-1]}]}, "device-group", "index_to_device_group_map"),
    ({"device": [-1], "index_to_device_group_map": [{"key": -1, "value": [2, 2]}]}, "device-group", "index_to_device_group_map"),
    ({"device": [0, 1], "sharded_dim": [{"axis": 3, "simple_sharding": [{"num_shards": 2}]}]}, "axis", "sharded_dim"),
    ({"device": [0, 1], "sharded_dim": [{"axis": -4, "simple_sharding": [{"num_shards": 2}]}]}, "axis", "sharded_dim"),
    ({"device": [0, 1, 2, 3], "sharded_dim": [{"axis": a, "simple_sharding": [{"num_shards": 2}]} for a in (0, -3)]}, "axis",
     "sharded_dim"),
    ({"device": [0], "sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": 0}]}]}, "num-shards", "sharded_dim"),
    ({"device": [0, 1], "sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": 2, "dim_value": 7}]}]}, "dim-value",
     "sharded_dim"),
    ({"device": [0, 1], "sharded_dim": [{"axis": 0, "simple_sharding": [
        {"num_shards": 2, "dim_param": "N"}, {"num_shards": 1, "dim_param": "M"}]}]}, "dim-value", "sharded_dim"),
    ({"device": [0, 1], "sharded_dim": [{"axis": 0, "simple_sharding": [
        {"num_shards": 2, "dim_param": "N"}, {"num_shards": 1, "dim_value": 3}]}]}, "dim-value", "sharded_dim"),
    ({"device": [0, 1, 2], "sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": 2}]}]}, "shard-count", "device"),
    ({"device": [0, 1], "sharded_dim": [{"axis": 2, "simple_sharding": [{"num_shards": 2}]}]}, "size-one", "sharded_dim"),
]


class Formalism(TapcTest):
    def outcome(self, program, nodes, one=False, name="Y", write=lambda value: value):
        self.write("p.tap", program)
        specs = {"configuration": {"name": "c", "num_devices": DEVICES},
                 "node": [{"name": n, "sharding_spec": list(given)} for n, given in nodes.items()]}
        self.write("s.json", json.dumps({"format": "onnx-sharding", "version": 1, **write(specs)}))
        result = self.tapc("sharding", "p.tap", "--from", "onnx-json", "s.json", "--on-unsupported=fallback",
                           *(["--reduced=one"] if one else []))
        rule = re.search(r"rule `(.*?)`", result.told)
        self.assertEqual(result.returncode, 1 if rule else 0, result.told)
        if rule:
            self.assertRegex(result.told, r"s\.json:1:\d+: error")
            return rule[1]
        found = re.search(rf"(?m)^{name} +((?:unsharded|\{{.*\}})(?= |$))", result.stdout.decode())
        self.assertTrue(found, result.stdout)
        return re.sub(r"\}  .*", "}", found[1])

    def check(self, case, **options):
        found = self.outcome(case.program, case.nodes, case.one, **options)
        self.assertEqual(found, case.expected(), f"\n{case.program}{json.dumps(case.nodes)}")

    def test_by_hand(self):
        for shapes, specs, wanted in TABLE:
            with self.subTest(shapes=shapes, specs=list(map(places, specs))):
                result = [0 if any(s[a] == 0 for s in shapes) else max(s[a] for s in shapes) for a in range(len(shapes[0]))]
                reads = ["%s[%s]" % (t, ", ".join("ijk"[a] if s[a] != 1 or result[a] == 1 else "0" for a in range(len(s))))
                         for t, s in zip("ABC", shapes)]
                program = (f"program p({', '.join(f'{t}: {tensor(s)}' for t, s in zip('ABC', shapes))}) -> (Y: {tensor(result)}) "
                           f"{{ Y[{', '.join('ijk'[:len(result)])}] = {' + '.join(reads)} }}\n")
                given = [written(t, s, x) for t, s, x in zip("ABC", shapes, specs) if x]
                case = Case(program, {"Y": given}, lambda: n_ary(list(zip(shapes, specs))))
                self.assertEqual(case.expected(), wanted)
                self.check(case)
                self.check(case, write=camel)

    def test_empty_axes_keep_their_devices(self):
        rows = Spec([2, 1], [{0}, {1}])
        given = {"Y": [written("X", [0, 4], rows)]}
        self.assertEqual(self.outcome("use std\nprogram p(X: f32[0, 4]) -> (Y: f32[0, 4]) { Y = exp(X) }\n", given), str(rows))
        flat = "program p(X: f32[0, 4]) -> (Y: f32[0]) { Y[4*i + j] = X[i, j] }\n"
        self.assertEqual(self.outcome(flat, given), str(Spec([1], [{0, 1}])))

    def test_forms(self):
        program = "use std\nprogram p(X: f32[8, 6, 1]) -> (Y: f32[8, 6, 1]) { Y = exp(X) }\n"
        for spec, rule, part in FORMS:
            with self.subTest(spec=spec):
                self.assertEqual(self.outcome(program, {"Y": [{**X, **spec}]}), rule)
                text = (self.folder / "s.json").read_text()
                told = self.tapc("sharding", "p.tap", "--from", "onnx-json", "s.json").told
                column = int(re.search(r"s\.json:1:(\d+): ", told)[1])
                self.assertGreater(column, text.index(f'"{part}"'))
                self.assertLess(column, text.index(f'"{part}"') + len(json.dumps(spec)))
        twice = [{**X, "device": [0]}, {**X, "device": [0]}]
        self.assertEqual(self.outcome(program, {"Y": twice}), "tensor-name")
        self.assertEqual(self.outcome(program, {"Y": [{"tensor_name": "Z", "device": [0]}]}), "tensor-name")
        self.assertEqual(self.outcome(program, {"exp": []}), "tensor-name")

    def test_random(self):
        draw = random.Random(SEED)
        for number in range(CASES):
            seed = draw.getrandbits(32)
            with self.subTest(case=number, seed=seed):
                own = random.Random(seed)
                kind = own.choice(KINDS)
                self.check(kind(own), write=camel if own.random() < 0.2 else lambda value: value)


if __name__ == "__main__":
    unittest.main()
