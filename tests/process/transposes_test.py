#!/usr/bin/python3
"""Random permutations of axes, with shifts, reversals, conversions and second operands, native against NumPy, bit for bit.
transposes_test.py TAPC [--programs N] [--seed S]"""
import random

import numpy as np

from tapc import *

TYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1", "bool": "?"}
NARROWER = {"f32": "f16", "f64": "f32", "i64": "i32", "i32": "i8"}
EXTENTS = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 64, 65, 100, 129]
PROGRAMS, SEED = option("--programs", 50), option("--seed", 1)


def extents_of(chance, rank):
    while True:
        extents = [chance.choice(EXTENTS) for _ in range(rank)]
        if np.prod(extents) < 200_000:
            return extents


class Transposes(TapcTest):
    def program(self, seed):
        """The text, the inputs and what is right."""
        chance = random.Random(seed)
        kind = chance.choice(list(TYPES))
        rank = chance.choice([2, 3, 3, 4])
        extents = extents_of(chance, rank)
        order = chance.sample(range(rank), rank)
        x = np.random.default_rng(seed).integers(-100, 100, size=extents).astype(TYPES[kind])
        names = "abcd"[:rank]
        at, right, fill = list(names), x, ""
        axis = chance.randrange(rank)
        change = chance.choice(["none", "none", "none", "shifted", "reversed"])
        if change == "shifted":
            at[axis] += " - 1"
            fill = " else false" if kind == "bool" else " else 0"
            right = np.roll(x, 1, axis)
            right[(slice(None),) * axis + (0,)] = 0
        if change == "reversed":
            at[axis] = f"{extents[axis] - 1} - {names[axis]}"
            right = np.flip(x, axis)
        text, right = f"X[{', '.join(at)}{fill}]", np.transpose(right, order)
        given, inputs = f"X: {kind}[{', '.join(map(str, extents))}]", {"X": x}
        results = ", ".join(names[o] for o in order)
        shape = ", ".join(str(extents[o]) for o in order)
        written = kind
        if chance.random() < 0.3 and kind != "bool":
            z = np.random.default_rng(seed + 1).integers(-20, 20, size=right.shape).astype(TYPES[kind])
            text, right = f"{text} + Z[{results}]", right + z
            given, inputs = f"{given}, Z: {kind}[{shape}]", {"X": x, "Z": z}
        elif chance.random() < 0.2 and kind in NARROWER:
            written = NARROWER[kind]
            text, right = f"{written}({text})", right.astype(TYPES[written])
        return f"program p({given}) -> (Y: {written}[{shape}]) {{ Y[{results}] = {text} }}\n", inputs, right

    def test_random_permutations(self):
        for seed in range(SEED, SEED + PROGRAMS):
            text, inputs, right = self.program(seed)
            with self.subTest(seed=seed, text=text):
                self.write("p.tap", text)
                for name, data in inputs.items():
                    np.save(self.folder / f"{name}.npy", data)
                given = [word for name in inputs for word in ("-i", f"{name}=@{name}.npy")]
                self.expect(0, "^$", "run", "p.tap", *given, "-o", "Y=@y.npy", "--threads", str(1 + seed % 3))
                found = np.load(self.folder / "y.npy")
                self.assertEqual(found.tobytes(), np.ascontiguousarray(right).tobytes())

    def test_lanes_follow_the_contiguous_read(self):
        """Otherwise each lane comes from a line of its own."""
        self.write("p.tap", "program p(X: f32[256, 128]) -> (Y: f32[128, 256]) { Y[i, j] = X[j, i] }\n")
        self.expect(0, ".*", "compile", "p.tap", "-o", "p", "--emit=loops")
        loops = (self.folder / "p.loops").read_text()
        self.assertRegex(loops, r"unroll j in j0 of 16\n *lanes i in i0 \+ 16\*v of 16\n *t1\[i, j\] = t0\[j, i\]")


if __name__ == "__main__":
    unittest.main()
