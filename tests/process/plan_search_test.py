#!/usr/bin/python3
"""tapc plan: the plans that it finds are certified, and programs compute the same under them; known answers.
plan_search_test.py TAPC [EXAMPLES]"""
import json
import math
import re

from examples import examples
from tapc import *

MLP = """use std
dim batch = 16, d = 32, h = 64
program mlp(X: f32[batch, d], W1: f32[d, h], W2: f32[h, d]) -> (Y: f32[batch, d]) {
    H = relu(matmul(X, W1))
    Y = matmul(H, W2)
}
"""
# Whole numbers, so that every order of combination gives the same bits.
PROGRAMS = {
    "product": "program main(A: i32[12, 8], B: i32[8, 10]) -> (C: i32[12, 10]) { C[i, j] = sum[k] A[i, k] * B[k, j] }",
    "chain": "program main(A: i32[12, 8], B: i32[8, 12]) -> (C: i32[12, 12], s: i32[]) {\n"
             "    T[i, j] = sum[k] A[i, k] * B[k, j]\n    C[i, j] = T[i, j] - T[j, i]\n    s[] = sum[i, j] C[i, j] * T[i, j]\n}",
    "stencil": "program main(x: i64[40]) -> (y: i64[40]) {\n"
               "    y = iterate 3 (u = x) { v[i] = u[i - 1 else 0] + u[i] - u[i + 1 else 0]; v }\n}",
    "reversed": "program main(x: i32[24]) -> (y: i32[24]) { t[i] = x[23 - i] * 2 for i in 0..24; y[i] = t[i] + t[23 - i] }",
    "scan": "program main(x: i32[6, 16]) -> (y: i32[6, 16]) { y[r, i] = sum[k in 0..i + 1] x[r, k] }",
    "writers": "program main(x: i32[16]) -> (y: i32[16], z: i32[16]) {\n"
               "    y[i] = x[i] for i in 0..8\n    y[i] = -x[i] for i in 8..16\n    z[i] = y[i] + y[15 - i]\n}",
    "gather": "program main(t: i32[20, 4], k: i32[10]) -> (y: i32[10, 4]) { y[n, c] = t[k[n] % 20, c] }",
    "two results": "program main(x: i32[8, 12]) -> (m: i32[8], s: i32[12]) { m[i] = max[j] x[i, j]; s[j] = sum[i] x[i, j] }",
    "odd": "program main(x: i32[7, 5]) -> (y: i32[7]) { t[i, j] = x[i, j] * x[i, j]; y[i] = sum[j] t[i, j] }",
    "empty": "program main(x: i32[3, 0], w: i32[0, 5], s: i32[0]) -> (y: i32[3, 5], z: i32[0, 3], q: i32[0]) {\n"
             "    y[i, j] = sum[k] x[i, k] * w[k, j]\n    z[j, i] = x[i, j] + 1\n    q = iterate 3 (u = s) { v[i] = u[i] + 1; v }\n}",
    "states": "program main(x: i32[12], y: i32[12]) -> (a: i32[12], b: i32[12]) {\n"
              "    (a, b) = iterate 4 (u = x, v = y) { p[i] = u[i] + v[i]; q[i] = u[i] - v[11 - i]; (p, q) }\n}",
}
MESHES = ("x=2", "x=4", "a=2,b=2", "a=3,b=2", "a=1,b=4")
PICKS = ("fastest", "smallest", "least-traffic", "knee")


class PlanSearch(TapcTest):
    def inputs(self, program):
        found = re.findall(r"(\w+): (\w+)\[([^]]*)\]", program.split("->")[0])
        return [w for k, (name, kind, shape) in enumerate(found) for w in ("-i", f"{name}={kind}[{shape}]=rand:{k + 1}")]

    def results(self, file, *options):
        return self.expect(0, ".*", "run", file, *options, "--no-cache").stdout.decode()

    def test_found_plans_compute_the_same(self):
        number = 0
        for name, text in PROGRAMS.items():
            self.write("p.tap", text)
            inputs = self.inputs(text)
            expected = self.results("p.tap", "--plan", "none", *inputs)
            for mesh in MESHES:
                with self.subTest(program=name, mesh=mesh):
                    self.expect(0, ".*", "plan", "p.tap", "--mesh", mesh, "--pick", PICKS[number % 4], "-o", "p.plan")
                    self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan")
                    self.assertEqual(self.results("p.tap", "--plan", "p.plan", *inputs), expected)
                number += 1

    def test_examples(self):
        """Each at the sizes and with the inputs of its first lines."""
        tried = 0
        for number, (path, words, own) in enumerate(examples()):
            mesh = MESHES[number % len(MESHES)]
            with self.subTest(example=path.name, mesh=mesh):
                self.expect(0, ".*", "plan", path, *own, "--mesh", mesh, "--pick", PICKS[number % 4], "-o", "p.plan")
                self.expect(0, ".*", "verify", path, *own, "--plan", "p.plan")
                results = []
                for k, plan in enumerate((["--plan", "none"], ["--plan", "p.plan"])):
                    self.expect(0, ".*", "run", path, *words, *plan, "-o", f"@{k}.npz")
                    results.append(f"{k}.npz")
                self.expect(0, ".*", "cmp", *results, "--rtol", "1e-4", "--atol", "1e-4")
                tried += 1
        self.assertGreater(tried, 12)

    def predicted(self, *options):
        return json.loads(self.expect(0, ".*", "plan", "p.tap", *options, "--json").stdout)["plans"]

    def test_the_same_plan_each_time(self):
        self.write("p.tap", MLP)
        plans = {self.expect(0, ".*", "plan", "p.tap", "--mesh", "data=4,model=2").stdout.decode() for _ in range(3)}
        self.assertEqual(len(plans), 1)

    def test_the_same_plans_by_any_number_of_threads(self):
        """Meshes, forms of the program, and states of an iterate are searched at the same time."""
        one = lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        for size in (["--devices", "8"], ["--mesh", "x=4,y=2", "--pick", "smallest"]):
            found = [self.expect(0, ".*", "plan", ROOT / "examples/transformer.tap", "--dim", "layers=2", "--dim", "n=128", *size, "--threads",
                                 "2", "--states", "16", "--list", "--no-cache", "--machine", ROOT / "examples/machines/cpu_cluster.toml",
                                 before=before) for before in (one, None)]
            self.assertEqual(found[0].stdout, found[1].stdout)

    def fastest(self, text, *options):
        """On a given machine, since the answer depends on it."""
        self.write("p.tap", text)
        machine = [] if "--machine" in options else ["--machine", ROOT / "examples/machines/cpu_cluster.toml"]
        return self.expect(0, ".*", "plan", "p.tap", *options, *machine).stdout.decode()

    def test_a_large_batch_is_divided(self):
        plan = self.fastest(MLP.replace("batch = 16", "batch = 65536"), "--mesh", "x=4")
        self.assertRegex(plan, r"split Y dim i into 4 over axis grid\.x\n")
        self.assertNotRegex(plan, r"split .* dim [ok] ")
        self.assertRegex(plan, r"0 bytes received")

    def test_large_weights_are_divided(self):
        """512 MiB of weights for 16 rows, of which a device has a quarter; links that take longer than the products. Column and
        row: one reduction of partials, none between the products."""
        self.write("slow.toml", (ROOT / "examples/machines/cpu_cluster.toml").read_text().replace('"60 GB/s"', '"0.2 GB/s"')
                   .replace('"12.5 GB/s"', '"0.2 GB/s"'))
        plan = self.fastest(MLP.replace("d = 32, h = 64", "d = 4096, h = 16384"), "--mesh", "x=4", "--at-most", "memory=200MiB",
                            "--machine", "slow.toml")
        self.assertRegex(plan, r"split H\.matmul dim o into 4 over axis grid\.x\n")
        self.assertRegex(plan, r"split Y dim k into 4 over axis grid\.x\n")
        self.assertNotRegex(plan, r"split H\.matmul dim k")

    def layers(self, count, batch, width):
        """A chain of products and maps; each product has weights of its own."""
        weights = "".join(f", W{k}: f32[{width}, {width}]" for k in range(count))
        lines = "".join(f"    H{k} = relu(matmul({'X' if k == 0 else f'H{k - 1}'}, W{k}))\n" for k in range(count - 1))
        return (f"use std\nprogram p(X: f32[{batch}, {width}]{weights}) -> (Y: f32[{batch}, {width}]) {{\n{lines}"
                f"    Y = matmul(H{count - 2}, W{count - 1})\n}}\n")

    def test_weights_are_held_in_parts_where_memory_is_short(self):
        """Eight layers with weights of 1 MiB and activations of 16 MiB on 8 devices. Data parallelism moves nothing, and needs all
        weights on each device. Where they do not fit, each device holds an eighth of some and gathers those of a layer just
        before it: activations are larger than weights, so that to divide the products along the weights would move more."""
        text = self.layers(8, 16384, 512)
        of = lambda machine: ["--mesh", "x=8", "--machine", ROOT / f"examples/machines/{machine}.toml"]
        for machine in ("cpu_cluster", "torus"):
            with self.subTest(machine=machine):
                ask = of(machine)
                parallel = r"split (?:H\d|Y) dim i0? into 8 over axis grid\.x\n"
                free = self.fastest(text, *ask)
                self.assertEqual(len(re.findall(parallel, free)), 8)
                self.assertRegex(free, r"20 MiB per device, 0 bytes received")  # 8 of weights, 12 of X and two activations
                self.assertNotIn("split W", free)
                short = self.fastest(text, *ask, "--at-most", "memory=16MiB")
                self.assertEqual(len(re.findall(parallel, short)), 8)
                # Six of eight: 6/8 + 2 MiB of weights, 9/8 MiB that are gathered.
                self.assertEqual(len(re.findall(r"split W\d on axis 0 into 8 over axis grid\.x\n", short)), 6)
                self.assertRegex(short, r"15\.88 MiB per device, 5\.25 MiB received")
        # One group of all layers has no activations between them.
        self.assertRegex(self.fastest(text, *of("gpu_nodes"), "--pick", "least-traffic", "--at-most", "memory=16MiB"),
                         r"fuse H0\.matmul, .*, Y over i\n(?!split W)(.|\n)* 16 MiB per device, 0 bytes received")

    def test_layers_run_in_stages_where_links_between_nodes_are_slow(self):
        """Eight layers with weights of 64 MiB for 64 rows, on 4 nodes of 8 devices; a message between nodes takes a second. A device
        of a node has 64 MiB of all weights, more than the limit, so that nodes must have different weights. Three messages are
        the least that takes: each node computes two layers."""
        text = self.layers(8, 64, 4096)
        ask = ["--mesh", "node=4,x=8", "--machine", self.with_latency("network")]
        self.assertNotIn("place ", self.fastest(text, *ask))
        short = self.fastest(text, *ask, "--at-most", "memory=24MiB")
        stages = [int(at) for at in re.findall(r"place (?:H\d\.matmul|Y) at (\d) over axis grid\.node\n", short)]
        self.assertEqual(stages, [0, 0, 1, 1, 2, 2, 3, 3])
        self.assertRegex(short, r"// predicted: 3(\.0\d*)? s,")
        self.write("p.plan", short)
        self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan", "--stage", "sharded")

    def test_programs_in_stages_and_with_weights_in_parts_compute_the_same(self):
        """With less memory than what a program takes that moves nothing, or nothing between nodes."""
        stages = ["--mesh", "node=2,x=8", "--machine", self.with_latency("network")]
        parts = ["--mesh", "x=4", "--machine", ROOT / "examples/machines/cpu_cluster.toml", "--pick", "least-traffic"]
        for rows, width, ask, line, share in ((1, 64, stages, "place H0", 0.75), (64, 12, parts, "split W", 0.99)):
            text = self.layers(4, rows, width).replace("f32", "i32")
            inputs = self.inputs(text)
            self.write("p.tap", text)
            expected = self.results("p.tap", "--plan", "none", *inputs)
            with self.subTest(ask=ask):
                found = self.predicted(*ask)
                least = min(p["memory"] for p in found if p["time"] < 0.5 and (ask is stages or p["traffic"] == 0))
                short = self.fastest(text, *ask, "--at-most", f"memory={int(share * least)}")
                self.write("p.plan", short)
                self.assertIn(line, short)
                self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan")
                self.assertEqual(self.results("p.tap", "--plan", "p.plan", *inputs), expected)

    def test_products_are_replicated_where_that_moves_less(self):
        """A and B are held once, in blocks over all of 64 devices. On a grid of p1 × p2 × p3 devices for i, j and k a device gathers
        blocks of both, and receives its share of the others' partials: a 2.5-D product and its special cases. The least
        traffic is at most 1.1 times that of the best grid for which there is memory."""
        devices = 64
        grids = [(p1, p2, devices // p1 // p2) for p1 in (1, 2, 4, 8, 16, 32, 64) for p2 in (1, 2, 4, 8, 16, 32, 64) if p1 * p2 <= devices]

        def traffic(m, n, k, p1, p2, p3):
            return 4 * (m * k / (p1 * p3) * (1 - 1 / p2) + k * n / (p2 * p3) * (1 - 1 / p1) + m * n / (p1 * p2) * (1 - 1 / p3))

        def memory(m, n, k, p1, p2, p3):  # blocks of A, B and C, what is gathered, and partials
            gathered = (m * k / (p1 * p3) if p2 > 1 else 0) + (k * n / (p2 * p3) if p1 > 1 else 0)
            return 4 * ((m * k + k * n + m * n) / devices + gathered + (m * n / (p1 * p2) if p3 > 1 else 0))
        for shape, best_grid in (((4096, 4096, 4096), (4, 4, 4)), ((512, 512, 65536), (1, 1, 64)), ((8192, 8192, 1024), (8, 8, 1))):
            m, n, k = shape
            best = min(grids, key=lambda grid: traffic(*shape, *grid))
            self.assertEqual(best, best_grid)
            for limit in (math.inf, memory(*shape, *best) - 1):
                fit = [grid for grid in grids if memory(*shape, *grid) <= limit]
                found = []
                for p1, p2, p3 in [best, *fit[::3]] if limit == math.inf else fit:
                    axes = {name: size for name, size in (("x", p1), ("y", p2), ("z", p3)) if size > 1}
                    over = lambda *names: "{" + ", ".join(name for name in names if name in axes) + "}"
                    mesh = ", ".join(f"{name}: {size}" for name, size in axes.items())
                    text = (f"mesh grid = [{mesh}]\nprogram p(A: f32[{m}, {k}] @ grid[{over('x')}, {over('z', 'y')}], "
                            f"B: f32[{k}, {n}] @ grid[{over('z', 'x')}, {over('y')}]) -> (C: f32[{m}, {n}]) {{\n"
                            "    C[i, j] = sum[k] A[i, k] * B[k, j]\n}\n")
                    most = [] if limit == math.inf else ["--at-most", f"memory={int(limit)}"]
                    plan = self.fastest(text, "--mesh", mesh.replace(": ", "=").replace(" ", ""), "--machine",
                                        ROOT / "examples/machines/torus.toml", "--pick", "least-traffic", *most, "--json")
                    found.append(min(p["traffic"] for p in json.loads(plan)["plans"]))
                if fit:
                    self.assertLessEqual(min(found), 1.1 * min(traffic(*shape, *grid) for grid in fit), (shape, limit))

    def test_a_skinny_result_splits_its_reduction(self):
        plan = self.fastest("program p(A: f32[8, 1048576], B: f32[1048576, 8]) -> (C: f32[8, 8]) {\n"
                            "    C[i, j] = sum[k] A[i, k] * B[k, j]\n}", "--mesh", "x=4")
        self.assertRegex(plan, r"split C dim k into 4")

    def test_a_stencil_exchanges_halos(self):
        plan = self.fastest("program p(X: f32[4096, 4096]) -> (Y: f32[4096, 4096]) {\n    Y = iterate 50 (u = X) {\n"
                            "        v[i, j] = (u[i - 1, j else 0] + u[i + 1, j else 0] + u[i, j] * 2) / 4\n        v\n    }\n}",
                            "--mesh", "x=4")
        self.assertRegex(plan, r"split Y/v(\.\d+)? dim j into 4 over axis grid\.x\n")  # no halo at all along j
        self.assertIn("0 bytes received", plan)
        plan = self.fastest("program p(X: f32[1048576, 8]) -> (Y: f32[1048576, 8]) {\n    Y = iterate 50 (u = X) {\n"
                            "        v[i, j] = (u[i - 1, j else 0] + u[i + 1, j else 0]) / 4 for i in 0..1048576\n        v\n    }\n}", "--mesh", "x=16")
        self.assertRegex(plan, r"split Y/v(\.\d)? dim i into 16 over axis grid\.x\n")  # j has 8 values only
        steps = int((re.search(r"unroll Y (\d+)", plan) or ["", "1"])[1])
        self.assertGreater(steps, 1)  # as on one device
        self.write("p.plan", plan)
        received = self.expect(0, ".*", "inspect", "p.tap", "--plan", "p.plan", "--device", "5").stdout.decode()
        self.assertIn(f"receives 2 boxes ({steps * 2 * 8 * 4} bytes", received)
        self.assertIn(f" {50 * 2 * 8 * 4 / 1024:g} KiB received", plan)  # those of 50 steps

    def test_long_attention_of_one_sequence_splits_the_queries(self):
        plan = self.fastest("use std\nprogram p(Q: f32[1, 8192, 64], K: f32[1, 8192, 64], V: f32[1, 8192, 64]) -> (Y: f32[1, 8192, 64]) {\n"
                            "    Y = attention(Q, K, V)\n}", "--mesh", "x=8", "--pick", "least-traffic", "--at-most", "memory=70MiB",
                            "--machine", ROOT / "examples/machines/cpu_cluster.toml")
        self.assertRegex(plan, r"split Y dim i into 8 over axis grid\.x\n")
        self.assertNotRegex(plan, r"split .* dim (?!i )")
        self.assertIn("0 bytes received", plan)
        self.assertRegex(plan, r"fuse Y\.t\.sum, Y\.t, ")  # no matrix of scores, 32 MiB on each device
        self.assertLess(float(re.search(r"([\d.]+) MiB per device", plan)[1]), 20)

    def test_partials_of_few_cells(self):
        """Of which no device can combine a slice: each receives all of them."""
        for cells, monoid in ((1, "sum"), (3, "sum"), (1, "max"), (3, "max")):  # maxima of results that are read are combined in rounds
            self.write("p.tap", f"program p(A: f32[64, {cells}]) -> (S: f32[{cells}]) {{\n    S[j] = {monoid}[i] A[i, j]\n}}\n")
            plan = self.fastest((self.folder / "p.tap").read_text(), "--mesh", "x=4", "--pick", "smallest")
            self.write("p.plan", plan)
            received = self.expect(0, ".*", "inspect", "p.tap", "--plan", "p.plan", "--device", "3").stdout.decode()
            self.assertIn(f"({4 * cells * 3} bytes", received)
            self.assertIn(f" {4 * cells * 3} bytes received", plan)
        self.write("p.plan", "plan 2\nevaluations 0\n")  # complete: no groups are decided
        self.write("p.tap", MLP)
        self.assertNotIn("fuse", self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=4", "--plan", "p.plan").stdout.decode())

    def test_groups_are_divided(self):
        """A plan of this search can be kept and begun with, and no division of unfused operations is as good."""
        self.write("p.tap", "use std\nprogram p(Q: f32[512, 32], K: f32[512, 32], V: f32[512, 32]) -> (Y: f32[512, 32]) {\n"
                            "    Y = attention(Q, K, V)\n}\n")
        ask = ["--mesh", "x=4", "--machine", ROOT / "examples/machines/cpu_cluster.toml"]
        fastest = self.predicted(*ask)[0]
        made = [line for line in fastest["plan"] if line.startswith(("choose ", "fuse "))]
        self.assertTrue(any(line.startswith("fuse ") for line in made))
        self.write("p.plan", "\n".join(["plan 2", *made, ""]))
        kept = self.predicted(*ask, "--plan", "p.plan")
        self.assertTrue(all(plan["plan"][:len(made)] == made for plan in kept), kept)
        self.assertLessEqual(kept[0]["time"], fastest["time"] * (1 + 1e-9))
        self.write("p.plan", "\n".join(["plan 2", "mesh grid = [x: 4]", *fastest["plan"], ""]))
        for words in (["--plan", "p.plan"], ["--start-from", "p.plan", "--states", "1"]):
            again = self.predicted(*ask, *words)[0]
            self.assertLessEqual(again["time"], fastest["time"] * (1 + 1e-9))
        self.write("none.plan", "\n".join(["plan 2", "mesh grid = [x: 4]", "split Y dim i into 4 over grid.x", ""]))
        unfused = self.predicted(*ask, "--plan", "none.plan")[0]
        self.assertGreater(unfused["memory"], 2 * fastest["memory"])
        self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan")
        whole = ["-i", "Q=rand:1", "-i", "K=rand:2", "-i", "V=rand:3"]
        self.expect(0, ".*", "run", "p.tap", "--plan", "p.plan", *whole, "-o", "Y=@a.npy")
        self.expect(0, ".*", "run", "p.tap", "--plan", "none", *whole, "-o", "Y=@b.npy")
        self.expect(0, ".*", "cmp", "a.npy", "b.npy", "--rtol", "1e-3", "--atol", "1e-5")

    def test_a_transformer_layer_has_two_reductions(self):
        """Heads and hidden units over the mesh; weights and memory limit such that they must be divided. The attention's
        result is combined, or gathered for a product along another dim: both take the same traffic."""
        text = re.search(r"```tap\n// layer\.tap\n(.*?)```", (ROOT / "docs/guide/shard_a_transformer_layer.md").read_text(), re.S).group(1)
        text = re.sub(r" @ pod\[[^]]*\]|mesh pod.*\n", "", text)
        text = text.replace("batch = 16, n = 32, model = 64, heads = 8, d = 8, wide = 256",
                            "batch = 1, n = 512, model = 1024, heads = 16, d = 64, wide = 4096")
        plan = self.fastest(text, "--mesh", "x=4", "--at-most", "memory=22MiB", "--pick", "least-traffic",
                            "--machine", ROOT / "examples/machines/gpu_nodes.toml")
        self.assertRegex(plan, r"split O(\.s\.o)? dim b1 into 4")  # the attention, by heads
        self.assertRegex(plan, r"split (U\.matmul dim o|U dim i2) into 4")
        self.assertIn("split D dim k into 4", plan)
        for reduced in ("Q dim f", "K dim f", "V dim f", "U.matmul dim k", "P dim c"):
            self.assertNotIn(f"split {reduced} into", plan)

    def with_latency(self, link):
        """Nodes of eight devices, on which a message over this link takes a second, more than all else."""
        head, *links = (ROOT / "examples/machines/gpu_nodes.toml").read_text().split("[[links]]")
        links = [re.sub(r'latency = "[^"]*"', 'latency = "1 s"', text) if f'"{link}"' in text else text for text in links]
        self.write("slow.toml", "[[links]]".join([head, *links]))
        return "slow.toml"

    def test_a_reduce_scatter_takes_a_message_from_each_other_device(self):
        text = "program p(A: f32[8, 1048576], B: f32[1048576, 8]) -> (C: f32[8, 8]) {\n    C[i, j] = sum[k] A[i, k] * B[k, j]\n}"
        for devices in (2, 4, 8):
            listed = self.fastest(text, "--mesh", f"x={devices}", "--machine", self.with_latency("switch"), "--list")
            self.assertRegex(listed, rf"\n{devices - 1}(\.0\d)? s, {64 // devices} MiB per device, {256 * (devices - 1) // devices} bytes received, [\d.e-]+ euros\n")

    def test_a_halo_crosses_the_slowest_link(self):
        text = ("program p(X: f32[1048576, 8]) -> (Y: f32[1048576, 8]) {\n    Y = iterate 50 (u = X) {\n"
                "        v[i, j] = (u[i - 1, j else 0] + u[i + 1, j else 0]) / 4 for i in 0..1048576\n        v\n    }\n}")
        for devices, seconds in ((8, 0), (16, 100), (32, 100)):  # in both directions, in each trip
            self.write("p.tap", text)
            found = self.predicted("--mesh", f"x={devices}", "--machine", self.with_latency("network"))
            steps = [int((re.search(r"unroll Y (\d+)", "\n".join(plan["plan"])) or ["", "1"])[1]) for plan in found]
            self.assertTrue(any(plan["traffic"] > 0 and abs(plan["time"] - seconds / n) < 1 for plan, n in zip(found, steps)), found)

    def test_data_parallelism_is_found(self):
        """It moves nothing, and stays on the front although other plans are faster on the way, and more than are remembered."""
        text = re.search(r"```tap\n// layer\.tap\n(.*?)```", (ROOT / "docs/guide/shard_a_transformer_layer.md").read_text(), re.S).group(1)
        text = re.sub(r" @ pod\[[^]]*\]|mesh pod.*\n", "", text)
        for mesh in ("data=4,model=2", "x=2,y=2,z=2", "x=16"):
            self.assertIn(" 0 bytes received", self.fastest(text, "--mesh", mesh, "--pick", "least-traffic"))

    def test_given_shardings_stay(self):
        self.write("p.tap", "mesh pod = [x: 4]\nprogram main(A: i32[8, 8] @ pod[{}, {x}]) -> (B: i32[8, 8] @ pod[{}, {x}]) {\n"
                            "    T[i, j] = A[i, j] + 1\n    B[i, j] = T[i, j] * 2\n}\n")
        plan = self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=4").stdout.decode()
        self.assertNotIn("mesh ", plan.replace("over mesh", ""))
        self.assertRegex(plan, r"split B dim j into 4 over axis (pod\.)?x\n")

    def test_given_shardings_over_another_mesh(self):
        """Shardings over another view of the devices are followed where whole axes say the same; otherwise the error names them."""
        text = ("mesh pod = [data: 2, model: 2]\n"
                "program main(A: i32[8, 8] @ pod[{}, {data}]) -> (B: i32[8, 8] @ pod[{}, {data, model}]) {\n"
                "    T[i, j] = A[i, j] + 1\n    B[i, j] = T[i, j] * 2 + T[7 - i, j]\n}\n")
        self.write("p.tap", text)
        inputs = ["-i", "A=rand:1"]
        expected = self.results("p.tap", "--plan", "none", *inputs)
        for ask in (["--mesh", "data=2,model=2"], ["--mesh", "a=2,b=2"], ["--mesh", "model=2,data=2"], ["--devices", "4"]):
            with self.subTest(ask=ask):
                found = self.expect(0, ".*", "plan", "p.tap", *ask, "-o", "p.plan") and (self.folder / "p.plan").read_text()
                axes = re.findall(r"(\w+)=", ask[1]) or ["data", "model"]  # by position, as the devices are
                self.assertEqual(re.findall(r"split B dim j into 2 over axis \w+\.(\w+)\n", found), axes)
                self.assertNotIn("dim i", found)
                self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan")
                self.assertEqual(self.results("p.tap", "--plan", "p.plan", *inputs), expected)
        for ask, other in ((["--mesh", "z=4"], "a mesh z=4"), (["--mesh", "u=1,v=4"], "a mesh u=1,v=4")):
            refused = self.expect(2, f"the sharding of `A` is over the mesh `pod .data: 2, model: 2.`, and the plan is for {other}", "plan",
                                  "p.tap", *ask)
            self.assertIn("p.tap:2:", refused.output)
            self.assertIn("plan for `--mesh data=2,model=2`", refused.output)
        self.write("p.plan", "plan 2\nmesh grid = [z: 4]\nsplit T dim i into 4 over grid.z\n")
        self.expect(2, "the sharding of `A` is over the mesh", "plan", "p.tap", "--plan", "p.plan")

    def test_given_splits_stay(self):
        """A split in the program is as a line of --plan that is not repeated."""
        text = ("mesh pod = [x: 2, y: 2]\nprogram main(A: i32[8, 8]) -> (B: i32[8, 8]) {\n    T[i, j] = A[i, j] + 1\n"
                "    B[i, j] = T[i, j] * 2 + T[7 - i, j]\n    split T on j into 2 over pod.y\n}\n")
        self.write("p.tap", text)
        expected = self.results("p.tap", "--plan", "none", "-i", "A=rand:1")
        for ask in (["--mesh", "x=2,y=2"], ["--devices", "4"]):
            plan = self.expect(0, ".*", "plan", "p.tap", *ask, "-o", "p.plan") and (self.folder / "p.plan").read_text()
            self.assertNotIn("split T dim j into 2 over axis pod.y", plan)
            self.assertNotIn("split T dim i into 2 over axis pod.y", plan)
            self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan")
            self.assertEqual(self.results("p.tap", "--plan", "p.plan", "-i", "A=rand:1"), expected)
        for mesh in ("a=2,b=2", "z=4"):
            refused = self.expect(2, "the split of `T` is over the mesh `pod .x: 2, y: 2.`, and the plan is for a mesh", "plan", "p.tap", "--mesh", mesh)
            self.assertIn("p.tap:5:", refused.output)
        self.write("p.tap", text.replace("into 2 over pod.y", "into [0..1, 1..8] over pod.y"))
        self.expect(1, "p.tap:3:(.|\n)*a split in the program is not possible: `tapc plan` cannot keep this line", "plan", "p.tap", "--mesh", "x=2,y=2")

    def test_partials_of_a_result_with_a_given_sharding(self):
        """Each device combines a part of what it holds: what a program's own shardings say is among what is searched."""
        self.write("p.tap", "mesh pod = [data: 2, model: 2]\n"
                            "program mlp(X: f32[64, 128] @ pod[{data}, {}], W1: f32[128, 256] @ pod[{}, {model}],\n"
                            "            W2: f32[256, 128] @ pod[{model}, {}]) -> (Y: f32[64, 128] @ pod[{data}, {}]) {\n"
                            "    H[i, o] = sum[k] X[i, k] * W1[k, o]\n    Y[i, o] = sum[k] H[i, k] * W2[k, o]\n}\n")
        own = self.expect(0, ".*", "sharding", "p.tap", "--plan").stdout.decode()
        self.write("own.plan", own)
        mesh = ["--mesh", "data=2,model=2"]
        for more in ([], ["--plan", "own.plan"], ["--start-from", "own.plan"]):
            plan = self.expect(0, ".*", "plan", "p.tap", *mesh, *more).stdout.decode()
            self.assertEqual([line.replace("axis ", "") for line in plan.splitlines() if line.startswith("split")],
                             [line.replace("axis ", "") for line in own.splitlines() if line.startswith("split")])

    def test_wrong_meshes(self):
        self.write("p.tap", MLP)
        for mesh, why in (("x", "is not of the form AXIS=SIZE"), ("x=0", "is not of the form"), ("x=2,x=2", "names an axis twice"),
                          ("x=1048576,y=2", "gives more than 1048576 devices")):
            self.expect(2, why, "plan", "p.tap", "--mesh", mesh)

    def test_meshes_of_one_set_of_devices(self):
        """A program has one set of devices; other meshes than its own are views of it."""
        self.write("a.tap", "mesh a = [x: 2]\nprogram p(X: i64[4] @ a[{x}]) -> (Y: i64[4]) { Y[i] = X[i] + 1 }\n")
        self.write("a.plan", "plan 2\nmesh b = [z: 4]\nsplit Y dim i into 4 over b.z\n")
        self.expect(1, "mesh `b` has the devices 0 to 3, and the mesh `a` has the devices 0 to 1", "run", "a.tap", "--plan", "a.plan", "-i", "X=zeros")
        self.expect(2, "the devices 0 to 3 was given", "plan", "a.tap", "--mesh", "q=4")
        self.assertIn(b"into 2 over axis grid.q", self.tapc("plan", "a.tap", "--mesh", "q=2").stdout)


if __name__ == "__main__":
    unittest.main()
