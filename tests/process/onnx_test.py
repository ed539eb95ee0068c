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

    def test_specs_round_trip(self):
        self.write("mlp.tap", MLP)
        first = self.tapc("sharding", "mlp.tap", "--to", "onnx-json")
        self.assertEqual(first.returncode, 0, first.output)
        written = json.loads(first.stdout)
        self.assertEqual(list(problems(written, SCHEMA)), [])
        self.assertEqual(written["configuration"], {"name": "pod", "num_devices": 8})
        self.assertEqual({node["name"] for node in written["node"]}, {"H", "Y", "Y.y.sum", "H.linear", "H.linear.y.sum"})
        self.write("first.json", first.stdout)
        listed = self.tapc("sharding", "mlp.tap", "--from", "onnx-json", "first.json")
        self.assertEqual(listed.returncode, 0, listed.output)
        again = self.tapc("sharding", "mlp.tap", "--from", "onnx-json", "first.json", "--to", "onnx-json")
        self.assertEqual(again.returncode, 0, again.output)
        read = {node["name"]: {t["tensor_name"]: t for t in node["sharding_spec"]}
                for node in json.loads(again.stdout)["node"]}
        for node in written["node"]:
            for tensor in node["sharding_spec"]:
                self.assertEqual(read[node["name"]][tensor["tensor_name"]], tensor)

    def test_the_graph_with_the_shardings_is_a_program(self):
        tensors = [{"tensor_name": t, "device": [2, 0], "sharded_dim": ROWS} for t in "AB"]
        self.read(1, "tapc limit `mesh`", specs(*tensors), "--graph")
        for t in tensors:
            t["device"] = [1, 0]
        graph = self.read(0, "^$", specs(*tensors), "--graph")
        self.assertIn(b"devices [1, 0]", graph.stdout)
        self.write("p.tapir", graph.stdout)
        moves = self.tapc("sharding", "p.tapir", "--moves")
        self.assertEqual(moves.returncode, 0, moves.output)

    def test_limits_are_reported_as_fallback(self):
        groups = [{"key": -1, "value": [0, 1]}, {"key": -2, "value": [1, 2]}]
        tensors = [{"tensor_name": t, "device": [-1, -2], "index_to_device_group_map": groups, "sharded_dim": ROWS}
                   for t in "AB"]
        self.read(1, "device 1 holds more than one shard(?s:.*)tapc limit `mesh`", specs(*tensors))
        self.read(0, "tapc limit `mesh`", specs(*tensors), "--on-unsupported=fallback")

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
                    expected = {k: v for k, v in tensor.items() if k != "index_to_device_group_map"}
                    self.assertEqual(written.get("sharded_dim", []), expected.get("sharded_dim", []))
                self.expect(0, "^$", "verify", "p.tap", "--plan", "p.plan")
                inputs = ("-i", "A=iota", "-i", "B=rand:3")
                expected = self.tapc("run", "p.tap", *inputs)
                for engine in ("interp", "native"):
                    found = self.tapc("run", "p.tap", *inputs, "--plan", "p.plan", "--engine", engine)
                    self.assertEqual(found.returncode, 0, found.output)
                    self.assertEqual(found.stdout, expected.stdout)

    COMPOSED = """program p(A: f32[8, 6], B: f32[8, 6]) -> (Y: f32[8, 6]) {
    T[i, j] = A[i, j] * 2
    U[i, j] = T[i, j] + B[i, j]
    Y[i, j] = U[i, j] - 1
}
"""

    def test_specs_of_composed_values(self):
        """A plan takes the specs that the listing takes; values that are computed where they are read need no lines."""
        self.write("p.tap", self.COMPOSED)
        columns = [{"axis": 1, "simple_sharding": [{"num_shards": 3}]}]

        def node(name, shards, *tensors):
            return {"name": name, "sharding_spec": [{"tensor_name": t, "device": list(range(shards[0]["simple_sharding"][0]["num_shards"])),
                                                    "sharded_dim": shards} for t in tensors]}
        for nodes, splits, output in (([node("T", ROWS, "A", "T"), node("U", ROWS, "T", "B"), node("Y", ROWS, "U", "Y")], ["i into 2"], "^$"),
                                 ([node("T", ROWS, "A"), node("U", ROWS, "B")], ["i into 2"], "^$"),
                                 ([node("T", columns, "A"), node("U", columns, "B", "U"), node("Y", ROWS, "Y")], ["i into 2"],
                                  "`U`: it is fused into its readers"),
                                 ([node("U", ROWS, "T", "B", "U"), node("Y", columns, "U")], ["j into 3"],
                                  "`U`: it is fused into its readers")):
            with self.subTest(nodes=nodes):
                self.write("specs.json", json.dumps({"format": "onnx-sharding", "version": 1, "node": nodes,
                                                     "configuration": {"name": "c", "num_devices": 3}}))
                self.expect(0, "^$", "sharding", "p.tap", "--from", "onnx-json", "specs.json")
                self.expect(0, "^$", "sharding", "p.tap", "--from", "onnx-json", "specs.json", "--graph")
                plan = self.expect(0, output, "sharding", "p.tap", "--from", "onnx-json", "specs.json", "--plan").stdout.decode()
                self.assertEqual([line[len("split Y dim "):].split(" over")[0] for line in plan.splitlines()[1:]], splits, plan)
                self.write("p.plan", plan)
                self.expect(0, "^$", "verify", "p.tap", "--plan", "p.plan")
                inputs = ("-i", "A=iota", "-i", "B=rand:3")
                expected = self.tapc("run", "p.tap", *inputs)
                self.assertEqual(self.tapc("run", "p.tap", *inputs, "--plan", "p.plan").stdout, expected.stdout)
        specs = {"format": "onnx-sharding", "version": 1, "configuration": {"name": "c", "num_devices": 2},
                 "node": [node("T", ROWS, "A"), node("U", columns, "B")]}
        self.write("specs.json", json.dumps(specs))
        for how in ((), ("--plan",)):
            self.expect(1, "`same-sharding`|num_devices|beyond", "sharding", "p.tap", "--from", "onnx-json", "specs.json", *how)

    def test_no_specs(self):
        """What is no such file is refused where it is wrong: the line and the column of the value or the name."""
        good = specs()
        self.read(1, r"specs.json:1:6: .*invalid JSON from here", '{"a":')
        self.read(1, r"specs.json:1:1: .*lacks the field `configuration`", {k: v for k, v in good.items() if k != "configuration"})
        self.read(1, r"specs.json:1:139: .*unknown field `nodes`", {**good, "nodes": []})
        self.read(1, r"specs.json:1:40: .*must have `\"format\": \"onnx-sharding\", \"version\": 1`", {**good, "version": 2})
        self.read(1, "num_devices is 0", specs(devices=0))
        self.read(1, "num_devices is 1000000000000", specs(devices=10 ** 12))
        self.read(1, r"device\[0\] must be a 64-bit integer", specs({"tensor_name": "A", "device": [2 ** 63]}))
        self.read(1, r"device\[1\] must be a 64-bit integer", specs({"tensor_name": "A", "device": [0, 1.5]}))
        self.read(1, r"device\[0\] must be a 64-bit integer", specs({"tensor_name": "A", "device": ["1x"]}))
        self.read(1, r"node\[0\].sharding_spec\[0\].device must be an array", specs({"tensor_name": "A", "device": 3}))
        group = {"key": 1, "value": [0]}
        self.read(1, "keys of device groups must be negative",
                  specs({"tensor_name": "A", "device": [0], "index_to_device_group_map": [group]}))
        self.read(1, "1:65: .*nested more than 64 deep", "[" * 100000 + "]" * 100000)

    def test_locations(self):
        def at(text, pattern, part, code=1):
            """The message stands at the first `part` of the text."""
            before = text[:text.index(part)]
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            self.read(code, rf"specs.json:{line}:{column}: .*{pattern}", text)

        head = '{"format": "onnx-sharding", "version": 1,\n "configuration": {"name": "c", "num_devices": 4},\n'
        spec = head + ' "node": [{"name": "Y", "sharding_spec": [\n  {"tensor_name": "A", "device": [0, 1], %s}]}]}\n'
        at(spec % '"sharded_dim": [{"axis": true}]', "axis must be a 64-bit integer", "true")
        at(spec % '"sharded_dim": [{"axis": 0}]', "lacks the field `simple_sharding`", '{"axis"')
        at(spec % '"sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": "two"}]}]', "must be a 64-bit integer", '"two"')
        at(spec % '"devices": []', "unknown field `devices`", '"devices"')
        at(spec % '"device" : [2]', "`device` occurs twice", '"device" :')
        at(spec % '"tensorName": "B"', "both `tensor_name` and `tensorName`", '"tensorName"')
        at(spec % '"index_to_device_group_map": [{"key": -1, "value": [0]}, {"key": -1.5, "value": [0]}]', "must be a 64-bit integer", "-1.5")
        groups = '"index_to_device_group_map": [{"key": -1, "value": [0]}, {"value": [0], "key": -1}]'
        at(spec % groups, "the key of another device group", "-1}]")
        at(spec % '"sharded_dim": [{"axis": 7, "simple_sharding": [{"num_shards": 2}]}]', "axis 7 does not exist", '{"axis": 7')
        at(head + ' "node": [{"name": "Q", "sharding_spec": []}]}', "no operation of the program writes this value", '"Q"')
        at(head + ' "node": [{"name": "Y", "sharding_spec": [\n {"tensor_name":\t"Z", "device": [0]}]}]}',
           "neither reads nor writes it", '"Z"')
        twice = head + ' "node": [{"name": "Y", "sharding_spec": []}, {"name":  "Y", "sharding_spec": []}]}'
        at(twice, "the node occurs twice", twice[twice.rindex('"Y"'):])
        rows = '"sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": 2}]}]'
        output = self.read(1, "rule `same-sharding`", spec % rows).output
        self.assertRegex(output, r"specs\.json:4:3: error")
        self.assertRegex(output, r"p\.tap:1:\d+")  # the node
        self.assertIn("the node `Y`", output)

    def test_names_of_onnx(self):
        """Its own schema: camelCase and numbers as texts in JSON, dim_param, device_configurations of a node with outputs."""
        dim = {"axis": "-2", "simpleSharding": [{"dimParam": "batch", "numShards": "2"}]}
        tensors = [{"tensorName": t, "device": ["-1", "3"], "shardedDim": [dim],
                    "indexToDeviceGroupMap": [{"key": "-1", "value": ["0", "2"]}]} for t in "AB"]
        node = {"input": ["A", "B"], "output": ["Y"], "name": "add_7", "opType": "Add",
                "deviceConfigurations": [{"configurationId": "c", "shardingSpec": tensors, "pipelineStage": 0}]}
        text = {"format": "onnx-sharding", "version": 1, "configuration": [{"name": "c", "numDevices": 4}], "node": [node]}
        listed = self.read(0, "^$", text).stdout.decode()
        self.assertIn("Y  {device = [-1, 3], index_to_device_group_map = {-1: [0, 2]}, sharded_dim = [axis 0 in 2]}", listed)
        self.assertIn("node Y is the operation Y", listed)
        node["deviceConfigurations"][0]["configurationId"] = "d"
        self.read(1, "configuration_id is `d`, but the configuration is `c`", text)
        fused = [{"dim_param": "N", "num_shards": 2}, {"dim_value": 2, "num_shards": 1}]
        tensors = [{"tensor_name": t, "device": [0, 1], "sharded_dim": [{"axis": 0, "simple_sharding": fused}]} for t in "AB"]
        self.assertIn("axis 0 in 2", self.read(0, "^$", specs(*tensors)).stdout.decode())
        fused[1] = {"dim_value": 2, "dim_param": "M", "num_shards": 1}
        self.read(1, "both `dim_value` and `dim_param`", specs(*tensors))

    def test_concatenation(self):
        """A shard of the result is where all of its parts are. If there is none, the result needs a spec."""
        self.write("p.tap", "program p(A: f32[4], B: f32[4]) -> (Y: f32[8]) { Y[i] = A[i] for i in 0..4; Y[4 + i] = B[i] }\n")

        def outcome(code, pattern, devices, *more):
            tensors = [{"tensor_name": t, "device": d, "sharded_dim": ROWS} for t, d in zip("AB", devices)]
            self.write("specs.json", json.dumps(specs(*tensors, *more)))
            return self.expect(code, pattern, "sharding", "p.tap", "--from", "onnx-json", "specs.json").stdout.decode()

        outcome(1, r"(?s)no single device holds all parts of shard 0: some are on \{0\}, some on \{1\}.*rule `composable`",
                ([0, 1], [0, 1]))
        listed = outcome(0, "^$", ([0, 1], [2, 3]), {"tensor_name": "Y", "device": [0, 1, 2, 3],
                                                   "sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": 4}]}]})
        self.assertIn("Y  {device = [0, 1, 2, 3], sharded_dim = [axis 0 in 4]}", listed)
        self.assertIn("node Y is the operations Y@0, Y@1", listed)

    def test_the_command_line(self):
        self.write("p.tap", ADD)
        self.expect(2, "does not support the format `json`", "sharding", "p.tap", "--from", "json", "x")
        self.expect(2, "nowhere.json", "sharding", "p.tap", "--from", "onnx-json", "nowhere.json")
        self.expect(2, "--to", "sharding", "p.tap", "--to", "json")
        self.expect(2, "--from needs 2 values", "sharding", "p.tap", "--from", "onnx-json")
        self.write("specs.json", json.dumps(specs()))
        expected = self.expect(0, "^$", "sharding", "p.tap", "--from", "onnx-json", "specs.json", "--graph").stdout
        for order in (["--from", "onnx-json", "specs.json", "p.tap", "--graph"], ["--graph", "--from", "onnx-json", "specs.json", "p.tap"],
                      ["--from", "onnx-json", "specs.json", "--graph", "p.tap"], ["--from", "onnx-json", "specs.json", "--graph", "--", "p.tap"]):
            self.assertEqual(self.expect(0, "^$", "sharding", *order).stdout, expected, order)


if __name__ == "__main__":
    unittest.main()
