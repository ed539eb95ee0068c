#!/usr/bin/python3
"""tapc simulate: runs on machines that are not there. simulate_test.py TAPC"""
import json
import re

from json_schema import problems
from tapc import *

LAYER = """mesh pod = [data: 4, model: 2]
program layer(X: f32[640, 64] @ pod[{data}, {}], W: f32[64, 128] @ pod[{}, {model}],
              V: f32[128, 64] @ pod[{model}, {}]) -> (Y: f32[640, 64] @ pod[{data}, {}], t: f32[64]) {
    H[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = sum[k] exp(H[i, k]) * V[k, o]
    t[o] = sum[i] Y[i, o]
}
"""
HEAT = """mesh pod = [x: 4]
program heat(n: f32[1000, 16] @ pod[{x}, {}]) -> (u: f32[1000, 16]) {
    u = iterate TRIPS (v = n) { w[i, j] = (v[i - 1, j else 0] + v[i, j] * 2 + v[i + 1, j else 0]) / 4; w }
}
"""
TURN = """mesh pod = [x: 4]
program turn(a: f32[64, 64] @ pod[{x}, {}]) -> (y: f32[64, 64] @ pod[{x}, {}], z: f32[64, 64]) {
    b[i, j] = a[i, j] * 2
    y[i, j] = b[j, i] + 1
    z[i, j] = y[i, j] + b[i, j]
}
"""
# A second of latency, and a byte in a millisecond: computing is nothing beside them.
SLOW = """[[links]]
name = "wire"
count = 1048576
latency = "1 s"
bandwidth = 1000
"""
NODES = """[[links]]
name = "node"
count = 2
latency = "1 us"
bandwidth = "10 GB/s"
[[links]]
name = "network"
count = 1024
latency = "5 us"
bandwidth = "1 GB/s"
"""


class Simulate(TapcTest):
    def setUp(self):
        super().setUp()
        self.write("layer.tap", LAYER)
        self.write("heat.tap", HEAT.replace("TRIPS", "40"))
        self.write("turn.tap", TURN)
        self.write("slow.toml", SLOW)
        self.write("nodes.toml", NODES)

    def simulated(self, file, *words, **options):
        result = self.expect(0, ".*", "simulate", file, "--threads", "1", "--json", *words, **options)
        made = json.loads(result.stdout)
        schema = json.loads((ROOT / "docs/schema/simulation.schema.json").read_text())
        self.assertEqual(list(problems(made, schema)), [])
        self.assertEqual(made["devices"], sum(role["devices"] for role in made["roles"]))
        self.assertAlmostEqual(sum(role["received"] * role["devices"] for role in made["roles"]), sum(l["bytes"] for l in made["links"]))
        self.assertEqual(made["seconds"], max(role["ends"] for role in made["roles"]))
        return made

    def test_what_devices_receive_is_what_they_are_sent(self):
        """Counted from the block graph of each device."""
        for file, mesh in (("layer.tap", ["data=4", "model=2"]), ("layer.tap", ["data=3", "model=5"]), ("turn.tap", ["x=4"])):
            words = [word for axis in mesh for word in ("--mesh", axis)]
            made = self.simulated(file, *words, "--every-device")
            text = (self.folder / file).read_text()
            for axis in mesh:
                name, size = axis.split("=")
                text = re.sub(rf"{name}: \d+", f"{name}: {size}", text, count=1)
            self.write("resized.tap", text)
            for role in made["roles"]:
                part = self.tapc("inspect", "resized.tap", "--device", str(role["device"])).stdout.decode()
                found = re.search(r"receives (\d+) box(?:es)? \(([\d.]+) (B|bytes|KiB|MiB) in total\) from", part)
                boxes, size = (int(found[1]), float(found[2]) * {"KiB": 1 << 10, "MiB": 1 << 20}.get(found[3], 1)) if found else (0, 0)
                self.assertAlmostEqual(role["received"], size, delta=size / 1000, msg=part[:300])
                self.assertLessEqual(role["messages"], boxes)

    def test_against_every_device(self):
        """Roles make no difference to what is counted, and hardly any to times."""
        cases = [("layer.tap", mesh) for mesh in ("data=4,model=2", "data=16,model=4", "data=7,model=3", "data=1,model=64", "data=30,model=2")]
        cases += [("heat.tap", mesh) for mesh in ("x=2", "x=4", "x=7", "x=64")] + [("turn.tap", mesh) for mesh in ("x=4", "x=5", "x=64")]
        for file, mesh in cases:
            for machine in ([], ["--machine", "nodes.toml"], ["--machine", "slow.toml"]):
                alike, every = self.simulated(file, "--mesh", mesh, *machine), self.simulated(file, "--mesh", mesh, *machine, "--every-device")
                where = f"{file} {mesh} {machine}"
                self.assertEqual(len(every["roles"]), every["devices"])
                self.assertEqual(alike["devices"], every["devices"])
                self.assertEqual(sum(l["bytes"] for l in alike["links"]), sum(l["bytes"] for l in every["links"]), where)
                self.assertEqual(sum(l["messages"] for l in alike["links"]), sum(l["messages"] for l in every["links"]), where)
                self.assertEqual(max(r["peak_memory"] for r in alike["roles"]), max(r["peak_memory"] for r in every["roles"]), where)
                self.assertLess(abs(alike["seconds"] / every["seconds"] - 1), 0.03, where)
                self.assertLess(abs(alike["idle"] - every["idle"]), 0.03, where)
        self.assertLess(len(self.simulated("layer.tap", "--mesh", "data=16,model=4")["roles"]), 64)

    def test_times_of_messages(self):
        """Where nothing but messages takes time, it can be counted by hand."""
        def seconds(file, mesh):
            return self.simulated(file, "--mesh", mesh, "--machine", "slow.toml")["seconds"]

        # Each trip begins with a row of 16 f32 from each neighbour: 1 s, and 64 ms for each row that a device receives.
        self.assertAlmostEqual(seconds("heat.tap", "x=2"), 40 * 1.064, delta=0.01)
        self.assertAlmostEqual(seconds("heat.tap", "x=8"), 40 * 1.128, delta=0.2)
        self.write("heat.tap", HEAT.replace("TRIPS", "0"))
        self.assertLess(seconds("heat.tap", "x=8"), 0.01)
        # `z` needs no more than `y`: from each of 3 others a box of 16 × 16.
        self.assertAlmostEqual(seconds("turn.tap", "x=4"), 1 + 3 * 1.024, delta=0.01)
        self.assertAlmostEqual(seconds("turn.tap", "x=1"), 0, delta=0.01)

    def test_long_iterates_go_on_alike(self):
        self.write("heat.tap", HEAT.replace("TRIPS", "64"))
        short = self.simulated("heat.tap", "--machine", "slow.toml")
        self.write("heat.tap", HEAT.replace("TRIPS", "640000"))
        long = self.simulated("heat.tap", "--machine", "slow.toml")
        self.assertAlmostEqual(long["seconds"] / short["seconds"], 10000, delta=50)
        self.assertAlmostEqual(long["links"][0]["bytes"] / short["links"][0]["bytes"], 10000, delta=1e-6)
        self.assertEqual(short["trips_skipped"], 0)
        self.assertGreater(long["trips_skipped"], 640000)
        self.assertLess(abs(long["idle"] - short["idle"]), 0.01)

    def test_links(self):
        inside, across = (link for link in self.simulated("heat.tap", "--machine", "nodes.toml")["links"])
        self.assertEqual((inside["link"], across["link"]), ("node", "network"))
        self.assertEqual((inside["messages"], across["messages"]), (40 * 4, 40 * 2))  # of three borders between devices, two are in a node
        self.assertEqual((inside["bytes"], across["bytes"]), (40 * 4 * 64, 40 * 2 * 64))

    def test_a_million_devices(self):
        self.write("layer.tap", LAYER.replace("640, ", "1048576, ").replace(", t: f32[64]", "").replace("    t[o] = sum[i] Y[i, o]\n", ""))
        made = self.simulated("layer.tap", "--mesh", "data=131072,model=8", memory=2 * GIB, timeout=60)
        self.assertEqual(made["devices"], 1 << 20)
        self.assertLess(len(made["roles"]), 100)

    def test_trace_and_table(self):
        self.expect(0, "wrote `t.json`", "simulate", "heat.tap", "--trace", "t.json")
        trace = json.loads((self.folder / "t.json").read_text())
        made = self.simulated("heat.tap")
        tasks = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in trace["traceEvents"]}, {role["device"] for role in made["roles"]})
        self.assertEqual(sum(event["cat"] == "message" for event in tasks), sum(role["messages"] for role in made["roles"]))
        for device in {event["pid"] for event in tasks}:  # a device does one thing at a time
            ends = 0
            for event in (event for event in tasks if event["pid"] == device and event["cat"] == "task"):
                self.assertGreaterEqual(event["ts"], ends - 1e-6)
                ends = event["ts"] + event["dur"]
        text = self.tapc("simulate", "layer.tap").stdout.decode()
        self.assertRegex(text, r"^8 devices \[data: 4, model: 2\] with \d+ threads? each, in \d roles?\n[\d.]+ \w+; devices are idle [\d.]+ % of the time\n\nrole +devices")
        again = self.tapc("simulate", "layer.tap").stdout.decode()
        self.assertEqual(text, again)

    def test_plans_and_programs_without_a_mesh(self):
        self.write("p.tap", "program p(X: f32[64, 8]) -> (Y: f32[64, 8]) { Y[i, j] = X[i, j] + 1 }\n")
        self.assertEqual(self.simulated("p.tap")["devices"], 1)
        self.write("p.plan", "plan 2\nsplit Y dim i into 3 over devices {4}, {2}, {1}\n")
        made = self.simulated("p.tap", "--plan", "p.plan")
        self.assertEqual((made["devices"], made["mesh"]), (5, []))
        self.write("p.plan", "plan 2\nmesh grid = [x: 8]\nsplit Y dim i into 8 over axis grid.x\n")
        self.assertEqual([role["devices"] for role in self.simulated("p.tap", "--plan", "p.plan")["roles"]], [8])
        self.expect(2, "too many to simulate each of them(.|\n)*remove `--every-device`", "simulate", "layer.tap", "--mesh", "data=4096", "--every-device")
        self.expect(2, "is not an axis of the program", "simulate", "layer.tap", "--mesh", "rows=4")


if __name__ == "__main__":
    unittest.main()
