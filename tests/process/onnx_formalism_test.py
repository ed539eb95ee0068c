#!/usr/bin/python3
"""The verdict, the rule that is broken and the specs that are inferred, against a model that was written from ONNX's text
alone (onnx_model.py): cases by hand, and random ones.

    TAP_FORMALISM_CASES=5000 TAP_FORMALISM_SEED=7 onnx_formalism_test.py TAPC        a long run"""
import json
import os
import random
import re

from onnx_cases import *
from tapc import *

CASES = int(os.environ.get("TAP_FORMALISM_CASES", "150"))
SEED = int(os.environ.get("TAP_FORMALISM_SEED", "1"))

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
        rule = re.search(r"rule `(.*?)`", result.output)
        self.assertEqual(result.returncode, 1 if rule else 0, result.output)
        if rule:
            self.assertRegex(result.output, r"s\.json:1:\d+: error")
            return rule[1]
        found = re.search(rf"(?m)^{name} +((?:unsharded|\{{.*\}})(?= |$))", result.stdout.decode())
        self.assertTrue(found, result.stdout)
        return re.sub(r"\}  .*", "}", found[1])

    def check(self, case, **options):
        found = self.outcome(case.program, case.nodes, case.one, **options)
        self.assertEqual(found, case.expected(), f"\n{case.program}{json.dumps(case.nodes)}")

    def test_by_hand(self):
        for shapes, specs, expected in TABLE:
            with self.subTest(shapes=shapes, specs=list(map(description_of, specs))):
                result = [0 if any(s[a] == 0 for s in shapes) else max(s[a] for s in shapes) for a in range(len(shapes[0]))]
                reads = ["%s[%s]" % (t, ", ".join("ijk"[a] if s[a] != 1 or result[a] == 1 else "0" for a in range(len(s))))
                         for t, s in zip("ABC", shapes)]
                program = (f"program p({', '.join(f'{t}: {tensor(s)}' for t, s in zip('ABC', shapes))}) -> (Y: {tensor(result)}) "
                           f"{{ Y[{', '.join('ijk'[:len(result)])}] = {' + '.join(reads)} }}\n")
                given = [written(t, s, x) for t, s, x in zip("ABC", shapes, specs) if x]
                case = Case(program, {"Y": given}, lambda: n_ary(list(zip(shapes, specs))))
                self.assertEqual(case.expected(), expected)
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
                output = self.tapc("sharding", "p.tap", "--from", "onnx-json", "s.json").output
                column = int(re.search(r"s\.json:1:(\d+): ", output)[1])
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
