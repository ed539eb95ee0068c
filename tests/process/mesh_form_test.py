#!/usr/bin/python3
"""Shardings on meshes against a model that was written from the representation's text alone (mesh_model.py): what is well
formed, how it is normalised, and which cells every device holds.

    TAP_FORMALISM_CASES=5000 TAP_FORMALISM_SEED=7 mesh_form_test.py TAPC        a long run"""
import os
import random
import re

from mesh_model import *
from tapc import *

CASES = int(os.environ.get("TAP_FORMALISM_CASES", "150"))
SEED = int(os.environ.get("TAP_FORMALISM_SEED", "1"))


def random_mesh(draw, name="m", devices=None):
    while True:
        axes = [(f"{'abc'[k]}", draw.choice([1, 2, 2, 3, 4, 6, 8])) for k in range(draw.randint(1, 3))]
        mesh = Mesh(name, axes)
        if mesh.count() <= 24 if devices is None else mesh.count() == devices:
            break
    if draw.random() < 0.4:
        mesh.devices = draw.sample(range(mesh.count()), mesh.count())
    return mesh


def sub_axes(draw, name, size):
    """The axis, or parts of one way to split it, in any order; now and then something else."""
    if draw.random() < 0.1:
        return [(name, (draw.choice([0, 1, 1, 2, 3, 4]), draw.choice([1, 2, 3, 4, 8])))]
    if draw.random() < 0.4 or size == 1:
        return [(name, None)]
    parts, pre = [], 1
    while pre < size:
        k = draw.choice([k for k in range(2, size // pre + 1) if size // pre % k == 0])
        parts.append((name, (pre, k) if k < size else None))
        pre *= k
    return draw.sample(parts, draw.randint(1, len(parts)))


def random_sharding(draw, mesh, rank):
    pool = [axis for name, size in mesh.axes for axis in sub_axes(draw, name, size)]
    draw.shuffle(pool)
    if draw.random() < 0.08:
        pool.append(draw.choice(pool))
    if draw.random() < 0.04:
        pool.append(("q", None))
    lists = [[] for _ in range(rank + 2)]  # dims, replicated, unused
    for axis in pool:
        draw.choice(lists).append(axis)
    dims = [Dim(axes, draw.random() < 0.3, draw.choice([None] * 16 + [0, 1, 5])) for axes in lists[:rank]]
    if draw.random() < 0.04:
        dims = dims[:-1]
    return Sharding(mesh, dims, lists[rank])


X = ("x", None)
TABLE = [  # mesh, sharding, rank, code of the message or the normalised form
    ([("x", 2), ("y", 4), ("z", 2)], [[X], [("z", None), ("y", None)]], [], 2, "m[{x}, {z, y}]"),
    ([("c", 2), ("a", 2), ("b", 2)], [[]], [("a", None), ("c", None)], 1, "m[{}; replicated {c, a}]"),
    ([("x", 2), ("y", 8)], [[]], [("y", (4, 2)), X, ("y", (1, 2))], 1, "m[{}; replicated {x, y:(1)2, y:(4)2}]"),
    ([("x", 16)], [[("x", (2, 2)), ("x", (4, 4))]], [], 1, "T0908"),
    ([("x", 16)], [[("x", (4, 4)), ("x", (2, 2))]], [], 1, "m[{x:(4)4, x:(2)2}]"),
    ([("x", 6)], [[("x", (1, 2))], [("x", (3, 2))]], [], 2, "T0902"),
    ([("x", 8)], [[("x", (1, 4))], [("x", (2, 4))]], [], 2, "T0902"),
    ([("x", 8)], [[X], [("x", (2, 2))]], [], 2, "T0902"),
    ([("x", 8)], [[("x", (1, 8))]], [], 1, "T0903"),
    ([("x", 8)], [[("x", (3, 2))]], [], 1, "T0903"),
    ([("x", 8)], [[("x", (2, 1))]], [], 1, "T0903"),
    ([("x", 8)], [[X]], [], 2, "T0904"),
    ([("x", 8)], [[("w", None)]], [], 1, "T0901"),
    ([("x", 8)], [[X], [X]], [], 2, "T0902"),
    ([("x", 8)], [[X]], [X], 1, "T0902"),
    ([("x", 1), ("y", 2)], [[X], [X]], [], 2, "T0902"),
    ([("x", 1), ("y", 2)], [[X, X]], [], 1, "T0902"),
    ([("x", 16)], [[]], [("x", (2, 2)), ("x", (4, 4))], 1, "T0908"),
]


class MeshForm(TapcTest):
    def program(self, mesh, tensors):
        """tensors: [(name, shape, sharding)]"""
        inputs = ", ".join(f"{n}: f32[{', '.join(map(str, s))}] @ {sharding}" for n, s, sharding in tensors)
        return self.write("p.tap", f"{mesh}\nprogram p({inputs}) -> (Y: f32[]) {{ Y[] = 0 }}\n")

    def outcome(self, mesh, sharding, shape):
        result = self.tapc("inspect", "--format=ir", self.program(mesh, [("X", shape, sharding)]))
        if result.returncode == 1:
            return re.search(r"error\[(T\d+)\]", result.output)[1]
        self.assertEqual(result.returncode, 0, result.output)
        return re.search(r"(?m)^  value 0 X f32\[.*?\] @ (\w+\[.*\])$", result.stdout.decode())[1]

    def test_by_hand(self):
        for axes, dims, replicated, rank, expected in TABLE:
            mesh = Mesh("m", axes)
            sharding = Sharding(mesh, [Dim(d) for d in dims], replicated)
            with self.subTest(sharding=str(sharding)):
                faults = sharding.faults(rank)
                self.assertEqual(faults or str(sharding.normal()), {expected} if expected[0] == "T" else expected)
                self.assertEqual(self.outcome(mesh, sharding, [8] * rank), expected)

    def test_priorities(self):
        mesh = Mesh("m", [("x", 2)])
        for dim, expected in ((Dim([], False, 1), "T0905"), (Dim([], True, 1), "m[{?}p1]"), (Dim([X], False, 7), "m[{x}p7]")):
            self.assertEqual(self.outcome(mesh, Sharding(mesh, [dim]), [4]), expected)

    def test_random_forms(self):
        draw = random.Random(SEED)
        for number in range(CASES):
            seed = draw.getrandbits(32)
            own = random.Random(seed)
            mesh, rank = random_mesh(own), own.randint(1, 3)
            sharding = random_sharding(own, mesh, rank)
            with self.subTest(case=number, seed=seed, sharding=str(sharding), mesh=str(mesh)):
                faults = sharding.faults(rank)
                found = self.outcome(mesh, sharding, [12] * rank)
                if faults:
                    self.assertIn(found, faults)
                else:
                    self.assertEqual(found, str(sharding.normal()))

    def test_boxes_of_devices(self):
        """Major to minor, sub-axes, orders of devices, sizes that do not divide, on every device."""
        draw = random.Random(SEED)
        for number in range(max(1, CASES // 30)):
            seed = draw.getrandbits(32)
            own = random.Random(seed)
            mesh = random_mesh(own)
            tensors = []
            while len(tensors) < 12:
                rank = own.randint(1, 3)
                sharding = random_sharding(own, mesh, rank)
                if not sharding.faults(rank):
                    shape = [own.choice([1, 2, 3, 4, 7, 8, 10, 12, 16, 24]) for _ in range(rank)]
                    tensors.append((f"X{len(tensors)}", shape, sharding))
            program = self.program(mesh, tensors)
            for device in range(mesh.count()):
                listed = self.expect(0, "^", "sharding", program, f"--device={device}", "--open").stdout.decode()
                for name, shape, sharding in tensors:
                    with self.subTest(seed=seed, mesh=str(mesh), sharding=str(sharding), shape=shape, device=device):
                        box = sharding.box(shape, device)
                        text = f"[{', '.join(f'{lo}..{hi}' for lo, hi in box)}]"
                        if any(lo == hi for lo, hi in box):
                            text = "nothing"
                        line = re.search(rf"(?m)^{name} +f32\[.*?\] .*?\]  (.*)$", listed)[1]
                        self.assertEqual(re.sub(r", \S+ \w+$", "", line).strip(), text)

    def test_one_set_of_devices(self):
        """"each mesh refers to the same set of devices (by their unique logical ID) but with an arbitrary order"."""
        draw = random.Random(SEED)
        sides = [Mesh("m", [("x", 2), ("y", 4)]), Mesh("m", [("x", 8)]), Mesh("m", [("x", 4)]), Mesh("m", [], [3]),
                 Mesh("m", [("x", 1)])]
        for a, b in itertools.product(sides, repeat=2):
            b = Mesh("n", b.axes, b.devices or draw.sample(range(b.count()), b.count()))
            sets = [set(m.devices or range(m.count())) for m in (a, b)]
            fine = sets[0] == sets[1] or any(not m.axes and s <= t for m, s, t in ((a, *sets), (b, *sets[::-1])))
            text = f"{a}\n{b}\nprogram p(X: f32[8]) -> (Y: f32[8]) {{ Y[i] = X[i] }}\n"
            self.write("p.tap", text)
            with self.subTest(a=str(a), b=str(b)):
                output = self.tapc("check", "p.tap")
                self.assertEqual(output.returncode, 0 if fine else 1, output.output)
                if not fine:
                    self.assertRegex(output.output, r"(?s)p\.tap:2:6: error\[T0906\]: the mesh `n` has .*the mesh `m` has .*\n1 \| mesh m .*`m` is declared here")


if __name__ == "__main__":
    unittest.main()
