"""tapc sharding with ONNX sharding specs: what it writes follows the schema and is read again as the same; what is no spec
is refused with its place."""
import json

from json_schema import problems
from tapc import *

SCHEMA = json.loads((ROOT / "docs/schema/onnx_sharding.schema.json").read_text())

MLP = """
use std
mesh pod = [data: 2, model: 4]
program mlp(X: f32[64, 32] @ pod[{data}, {}], W1: f32[32, 128] @ pod[{}, {model}], b1: f32[128],
            W2: f32[128, 32], b2: f32[32]) -> (Y: f32[64, 32]) {
    H = relu(linear(X, W1, b1))
    Y = linear(H, W2, b2)
}
"""
ADD = "program p(A: f32[8, 6], B: f32[8, 6]) -> (Y: f32[8, 6]) { Y[i, j] = A[i, j] + B[i, j] }\n"
ROWS = [{"axis": 0, "simple_sharding": [{"num_shards": 2}]}]


def specs(*tensors, devices=4):
    return {"format": "onnx-sharding", "version": 1, "configuration": {"name": "c", "num_devices": devices},
            "node": [{"name": "Y", "sharding_spec": list(tensors)}]}


class Onnx(TapcTest):
    def read(self, code, pattern, text, *arguments):
        self.write("p.tap", ADD)
        self.write("specs.json", text if isinstance(text, str) else json.dumps(text))
        return self.expect(code, pattern, "sharding", "p.tap", "--from", "onnx-json", "specs.json", *arguments)

    def test_what_is_written_is_read_again(self):
        self.write("mlp.tap", MLP)
        first = self.tapc("sharding", "mlp.tap", "--to", "onnx-json")
        self.assertEqual(first.returncode, 0, first.told)
        written = json.loads(first.stdout)
        self.assertEqual(list(problems(written, SCHEMA)), [])
        self.assertEqual(written["configuration"], {"name": "pod", "num_devices": 8})
        self.assertEqual({node["name"] for node in written["node"]}, {"H", "Y", "Y.y.sum", "linear", "linear.y.sum"})
        self.write("first.json", first.stdout)
        listed = self.tapc("sharding", "mlp.tap", "--from", "onnx-json", "first.json")
        self.assertEqual(listed.returncode, 0, listed.told)
        again = self.tapc("sharding", "mlp.tap", "--from", "onnx-json", "first.json", "--to", "onnx-json")
        self.assertEqual(again.returncode, 0, again.told)
        read = {node["name"]: {t["tensor_name"]: t for t in node["sharding_spec"]}
                for node in json.loads(again.stdout)["node"]}
        for node in written["node"]:
            for tensor in node["sharding_spec"]:
                self.assertEqual(read[node["name"]][tensor["tensor_name"]], tensor)

    def test_the_graph_with_the_shardings_is_a_program(self):
        tensors = [{"tensor_name": t, "device": [2, 0], "sharded_dim": ROWS} for t in "AB"]
        self.read(1, "our limit `mesh`", specs(*tensors), "--graph")
        for t in tensors:
            t["device"] = [1, 0]
        graph = self.read(0, "^$", specs(*tensors), "--graph")
        self.assertIn(b"devices [1, 0]", graph.stdout)
        self.write("p.tapir", graph.stdout)
        moves = self.tapc("sharding", "p.tapir", "--moves")
        self.assertEqual(moves.returncode, 0, moves.told)

    def test_a_limit_is_told_under_fallback(self):
        groups = [{"key": -1, "value": [0, 1]}, {"key": -2, "value": [1, 2]}]
        tensors = [{"tensor_name": t, "device": [-1, -2], "index_to_device_group_map": groups, "sharded_dim": ROWS}
                   for t in "AB"]
        self.read(1, "device 1 has more than one shard(?s:.*)our limit `mesh`", specs(*tensors))
        self.read(0, "our limit `mesh`", specs(*tensors), "--on-unsupported=fallback")

    def test_any_devices_run(self):
        """Subsets, sets of several sizes, a mesh's own order: what the plan lists computes the same, and is proved."""
        group = [{"key": -1, "value": [0, 5]}]
        columns = [{"axis": 1, "simple_sharding": [{"num_shards": 2}]}]
        for tensor in ({"device": [2, 3], "sharded_dim": ROWS}, {"device": [-1, 3], "index_to_device_group_map": group,
                                                                  "sharded_dim": ROWS},
                       {"device": [1, 0], "sharded_dim": ROWS}, {"device": [3, 1, 2, 7], "sharded_dim": ROWS + columns},
                       {"device": [4]}, {"device": [1, 6]}):
            with self.subTest(tensor=tensor):
                tensors = [{"tensor_name": t, **tensor} for t in "AB"]
                plan = self.read(0, "^$", specs(*tensors, devices=8), "--plan").stdout.decode()
                self.assertRegex(plan, "over devices {")
                self.write("p.plan", plan)
                again = self.read(0, "^$", specs(*tensors, devices=8), "--to", "onnx-json").stdout
                node, = (n for n in json.loads(again)["node"] if n["name"] == "Y")
                for written in node["sharding_spec"]:
                    wanted = {k: v for k, v in tensor.items() if k != "index_to_device_group_map"}
                    self.assertEqual(written.get("sharded_dim", []), wanted.get("sharded_dim", []))
                self.expect(0, "^$", "verify", "p.tap", "--plan", "p.plan")
                inputs = ("-i", "A=iota", "-i", "B=rand:3")
                wanted = self.tapc("run", "p.tap", *inputs)
                for engine in ("interp", "native"):
                    found = self.tapc("run", "p.tap", *inputs, "--plan", "p.plan", "--engine", engine)
                    self.assertEqual(found.returncode, 0, found.told)
                    self.assertEqual(found.stdout, wanted.stdout)

    def test_no_specs(self):
        good = specs()
        self.read(1, r"specs.json:1:6: .*no JSON from here on", '{"a":')
        self.read(1, "lacks the field `configuration`", {k: v for k, v in good.items() if k != "configuration"})
        self.read(1, "`nodes`, which is not known", {**good, "nodes": []})
        self.read(1, "has not `\"format\": \"onnx-sharding\", \"version\": 1`", {**good, "version": 2})
        self.read(1, "num_devices is 0", specs(devices=0))
        self.read(1, "num_devices is 1000000000000", specs(devices=10 ** 12))
        self.read(1, r"device\[0\] is no whole number", specs({"tensor_name": "A", "device": [2 ** 63]}))
        self.read(1, r"node\[0\].sharding_spec\[0\].device is no list", specs({"tensor_name": "A", "device": 3}))
        group = {"key": 1, "value": [0]}
        self.read(1, "keys of device groups are negative",
                  specs({"tensor_name": "A", "device": [0], "index_to_device_group_map": [group]}))
        self.read(1, "is no", "[" * 100000 + "]" * 100000)

    def test_the_command_line(self):
        self.write("p.tap", ADD)
        self.expect(2, "knows no format `json`", "sharding", "p.tap", "--from", "json", "x")
        self.expect(2, "nowhere.json", "sharding", "p.tap", "--from", "onnx-json", "nowhere.json")
        self.expect(2, "--to", "sharding", "p.tap", "--to", "json")


if __name__ == "__main__":
    unittest.main()
