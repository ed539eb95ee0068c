#!/usr/bin/python3
"""Programs that say shardings, and no plan: they run on the devices of their meshes, give what they give without, and are
proved to. What is moved between the devices is counted."""
import re

from tapc import *

MLP = """mesh pod = [data: {data}, model: {model}]
program mlp(X: f64[{n}, 12] @ pod[{{data}}, {{}}], W1: f64[12, {h}] @ pod[{{}}, {{model}}],
            W2: f64[{h}, 12] @ pod[{{model}}, {{}}]) -> (Y: f64[{n}, 12] @ pod[{{data}}, {{}}]) {{
    H[i, o] = sum[k] X[i, k] * W1[k, o]
    R[i, o] = max(H[i, o], 0)
    Y[i, o] = sum[k] R[i, k] * W2[k, o]
}}
"""
DATA_PARALLEL = """mesh pod = [data: 4]
program p(X: f64[{n}, 16] @ pod[{{data}}, {{}}], W: f64[16, 4]) -> (Y: f64[{n}, 4]) {{
    H[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = max(H[i, o], 0)
}}
"""
ATTENTION = """mesh pod = [seq: {seq}]
program attention(Q: f64[{n}, 4] @ pod[{{seq}}, {{}}], K: f64[{n}, 4] @ pod[{{seq}}, {{}}],
                  V: f64[{n}, 4] @ pod[{{seq}}, {{}}]) -> (Y: f64[{n}, 4] @ pod[{{seq}}, {{}}]) {{
    L[j, c] = K[j, c] + 1
    U[j, c] = V[j, c] + 1
    A[i, j] = (sum[c] Q[i, c] * L[j, c]) / 16
    M[i] = max[j] A[i, j]
    E[i, j] = exp(A[i, j] - M[i])
    S[i] = sum[j] E[i, j]
    Y[i, c] = (sum[j] E[i, j] * U[j, c]) / S[i]
}}
"""
CONVOLUTION = """mesh pod = [space: {space}]
program conv(X: f64[2, 3, {n}] @ pod[{{}}, {{}}, {{space}}], W: f64[4, 3, 3])
         -> (Y: f64[2, 4, {n} - 2] @ pod[{{}}, {{}}, {{space}}]) {{
    P[b, c, x] = 2 * X[b, c, x]
    Y[b, o, x] = sum[c, u] P[b, c, x + u] * W[o, c, u]
}}
"""
STENCIL = """mesh ring = [a: {a}]
program heat(X: f64[{n}] @ ring[{{a}}]) -> (Y: f64[{n}] @ ring[{{a}}]) {{
    Y = iterate 5 (u = X) {{
        v[i] = u[i] + (u[i - 1 else 0] - 2 * u[i] + u[i + 1 else 0]) / 4
        v
    }}
}}
"""
STEPS = """mesh ring = [a: {a}]
program heat(X: f64[{n}] @ ring[{{a}}]) -> (Y: f64[{n}] @ ring[{{a}}]) {{
    U[i] = X[i] / 2
    V[i] = U[i] + (U[i - 1 else 0] - 2 * U[i] + U[i + 1 else 0]) / 4
    Y[i] = V[i] + (V[i - 1 else 0] - 2 * V[i] + V[i + 1 else 0]) / 4
}}
"""
SHARDED = re.compile(r" @ (pod|ring|m)\[[^\]]*\]")


GATHERED = r"^[\w.]+:\d+:\d+: warning\[T0910\]: computing `A\.sum` requires an implicit reshard of `L` to .*: all_gather, .* per device; " \
           "and 1 more, "


def cells(box):
    count = 1
    for low, high in re.findall(r"([0-9]+)\.\.([0-9]+)", box):
        count *= int(high) - int(low)
    return count


class ShardingsRun(TapcTest):
    def same(self, text, inputs, *more, near=None, output="^$", assumed=False):
        """Natively and interpreted what it gives without shardings: exactly, or as `near` says; and proved. The graph."""
        self.write("s.tap", text)
        self.write("w.tap", SHARDED.sub("", text))
        given = [word for each in inputs for word in ("-i", each)]
        expected = self.numbers("w.tap", "--engine=interp", *given)
        for how in ([], ["--threads", "3"], ["--engine=interp"]):
            got = self.numbers("s.tap", *how, *given, *more, output=output)
            if near is None:
                self.assertEqual(got, expected, how)
            else:
                self.assertEqual(len(got), len(expected))
                for a, b in zip(got, expected):
                    self.assertLessEqual(abs(a - b), near * abs(b), how)
        verdict = self.expect(0, output, "verify", "s.tap", *more).stdout.decode()
        self.assertIn("proved", verdict)
        self.assertNotRegex(verdict, "refused" if near or assumed else "assumed|refused")
        return self.expect(0, output, "opt", "--stage", "sharded", "s.tap", *more).stdout.decode()

    def numbers(self, *arguments, output="^$"):
        shown = self.expect(0, output, "run", *arguments).stdout.decode()
        return [float(word) for word in re.findall(r"-?[0-9][0-9.e+-]*", shown.split("=", 1)[1])]

    def transfers(self, graph):
        moving, current = set(), None
        for line in graph.splitlines():
            if operator := re.match(r"operator ([0-9]+) ", line):
                current = operator[1]
            elif line == "  transfer":
                moving.add(current)
        return sum(do in moving for do in re.findall(r"^  do ([0-9]+) ", graph, re.M))

    def moves(self, text):
        """Between devices, as shown device by device: the tensors of which something is moved from one to another."""
        self.write("s.tap", text)
        found = []
        for device in range(1 << 10):
            part = self.tapc("inspect", "s.tap", "--device", str(device))
            if part.returncode == 2:
                break
            lines = re.findall(r"^  (?:move|halo_exchange|all_gather|all_reduce_round|all_to_all|reduce_scatter) (\S+)\.moved\[(.*)\](@[0-9]+)? = .*@([0-9]+)$", part.stdout.decode(), re.M)
            # What all devices need, each of them receives.
            found += [(tensor, box, source, target[1:] or device) for tensor, box, target, source in lines]
        self.assertGreater(device, 0)
        return [(tensor, int(target) - int(source), cells(box)) for tensor, box, source, target in found if int(source) != int(target)]

    def test_megatron_combines_once(self):
        for data, model, n, h in ((2, 4, 8, 32), (3, 5, 8, 17), (1, 2, 4, 6), (8, 8, 5, 3)):
            text = MLP.format(data=data, model=model, n=n, h=h)
            graph = self.same(text, ["X=iota", "W1=iota", "W2=iota"])
            self.assertEqual(self.transfers(graph), 1)
            listed = self.expect(0, "^$", "sharding", "s.tap", "--moves").stdout.decode().splitlines()
            combined = [line for line in listed if "reduce" in line]
            self.assertEqual(len(combined), 1, listed)
            self.assertRegex(combined[0], r"^Y +all_reduce \{model\}")
            if n % data == 0 and h % model == 0:  # a ring: each device gets every part but its own, twice
                self.assertIn(f" {2 * (model - 1) * (n // data * 12 * 8) // model} bytes", combined[0])

    def test_each_device_combines_what_it_holds(self):
        for data, model in ((2, 4), (1, 3), (3, 2)):
            text = MLP.format(data=data, model=model, n=12, h=24).replace("Y: f64[12, 12] @ pod[{data}, {}]",
                                                                         "Y: f64[12, 12] @ pod[{data}, {model}]")
            self.assertEqual(self.transfers(self.same(text, ["X=iota", "W1=iota", "W2=iota"])), 1)
            self.assertIn("reduce_scatter", self.expect(0, "^$", "sharding", "s.tap", "--moves").stdout.decode())
            # Every device is sent its part of the partials of the others.
            self.assertEqual(sum(count for _, _, count in self.moves(text)), 12 * 12 * (model - 1))

    def test_data_parallel_moves_nothing(self):
        for n in (8, 10, 3, 1):
            graph = self.same(DATA_PARALLEL.format(n=n), ["X=iota", "W=iota"])
            self.assertEqual(self.transfers(graph), 0)
            self.assertEqual(graph.count("over axis pod.data"), 2)

    def test_attention_gathers_keys_and_values(self):
        for n, seq in ((8, 4), (10, 4), (7, 8), (6, 3)):
            text = ATTENTION.format(n=n, seq=seq)
            graph = self.same(text, ["Q=iota", "K=iota", "V=iota"], near=1e-6, output=GATHERED)
            self.assertEqual(self.transfers(graph), 2)
            self.assertEqual({tensor for tensor, _, _ in self.moves(text)}, {"L", "U"})

    def test_windows_exchange_halos(self):
        for n, space in ((18, 4), (10, 4), (9, 2), (5, 8)):
            self.assertEqual(self.transfers(self.same(CONVOLUTION.format(n=n, space=space), ["X=iota", "W=iota"])), 1)
        for n, a in ((16, 4), (17, 4), (3, 2), (9, 8)):
            self.assertEqual(self.transfers(self.same(STEPS.format(n=n, a=a), ["X=iota"])), 2)
        self.write("s.tap", STEPS.format(n=16, a=4))
        shown = self.expect(0, "^$", "opt", "--stage", "block", "s.tap").stdout.decode()
        self.assertIn("// halo_exchange U.moved[3..4]@1 = U[3..4]@0, on 2 devices", shown)
        self.assertNotIn("// move ", shown)
        # Neighbours alone have what a device lacks.
        neighbours = {(tensor, direction, 1) for tensor in "UV" for direction in (-1, 1)}
        self.assertEqual(set(self.moves(STEPS.format(n=16, a=4))), neighbours)

    def test_iterate(self):
        for n, a in ((16, 4), (10, 4), (5, 8), (4, 1)):
            graph = self.same(STENCIL.format(n=n, a=a), ["X=iota"])
            self.assertEqual("over axis ring.a" in graph, a > 1)

    def test_the_state_of_an_iterate_stays_on_its_devices(self):
        """From step to step neighbours exchange the edges of their blocks, and nothing is gathered."""
        for n, a in ((16, 4), (10, 4), (9, 8), (7, 2)):
            self.assertEqual(set(self.moves(STENCIL.format(n=n, a=a))), {("u", -1, 1), ("u", 1, 1)})
        # Several states, blocks in blocks, a state that is another one's last value, dot products, a product that gathers.
        for sharding in ("{a}", "{b, a}", "{a:(2)2}"):
            text = (f"mesh pod = [a: 4, b: 2]\nprogram cg(A: f64[10, 10] @ pod[{sharding}, {{}}], B: f64[10])\n"
                    f"        -> (X: f64[10] @ pod[{sharding}], Last: f64[10]) {{\n"
                    "    Z[i] = B[i] * 0\n    (X, R, P, Last) = iterate t in 0..4 (x = Z, r = B, p = B, q = B) {\n"
                    "        ap[i] = sum[j] A[i, j] * p[j]\n        rr[] = sum[i] r[i] * r[i]\n"
                    "        pap[] = sum[i] p[i] * ap[i]\n        x2[i] = x[i] + floor(rr[] / pap[] * 8) * p[i]\n"
                    "        r2[i] = r[i] - ap[i] + f64(t)\n        p2[i] = r2[9 - i] + p[i]\n"
                    "        (x2, r2, p2, x)\n    }\n}\n")
            with self.subTest(sharding=sharding):
                moved = "T0910.*computing `ap` requires an implicit reshard of .*[PX]?/?p` to .*: all_gather"
                graph = self.same(text, ["A=iota", "B=iota"], output=f"{moved}|^$", assumed=True)
                self.assertIn("over axis pod.a", graph)
                blocks = self.tapc("opt", "--stage", "block", "s.tap").stdout.decode()
                body = blocks[blocks.index("graph 1 "):]
                # Of x, which is read where it lies, each device has its block before a step, and nothing is moved.
                self.assertRegex(body, r"value 0 \[.*\] device 0 times .*  // x\n")
                self.assertNotRegex(body, r"// move x\.moved")

    def test_a_mesh_of_one_device_splits_nothing(self):
        graph = self.same(MLP.format(data=1, model=1, n=8, h=16), ["X=iota", "W1=iota", "W2=iota"])
        self.assertNotIn("over axis", graph)
        self.assertEqual(self.transfers(graph), 0)

    def test_sub_axes_and_nested_blocks(self):
        text = ("mesh pod = [a: 4, b: 3]\n"
                "program p(X: f64[10, 7] @ pod[{a:(1)2, b}, {a:(2)2}]) -> (Y: f64[7]) { Y[j] = sum[i] X[i, j] }\n")
        self.assertIn("over axis pod.a:(1)2", self.same(text, ["X=iota"]))

    def gives(self, expected, text, *inputs, cut=True):
        """What it computes on its devices, worked out by hand; and the same without shardings."""
        graph = self.same(text, inputs)
        self.assertEqual(self.numbers("s.tap", *(word for each in inputs for word in ("-i", each))), expected)
        self.assertEqual("over axis" in graph, cut)

    # What nobody said of a program's inputs and results is cut evenly or not at all, all else as it is said.
    def test_traps_of_sizes_that_do_not_divide(self):
        for n in (10, 9):  # traps 10 and 11: 9 over 4 leaves an empty shard; over 2 and 3 the last is empty
            for mesh, axes in (("a: 4", "a"), ("a: 2, b: 3", "a, b"), ("a: 16", "a:(2)4")):
                self.gives([2.0 * k for k in range(n)],
                           f"mesh pod = [{mesh}]\nprogram p(X: f64[{n}]) -> (Y: f64[{n}]) "
                           f"{{\n    H = floor(X) @ pod[{{{axes}}}]\n    Y[i] = 2 * H[i]\n}}", "X=iota")
        box = ("mesh pod = [x: 8, y: 2, z: 3]\n"  # trap 12
               "program p(X: f64[7, 3, 8]) -> (Y: f64[7, 3, 8]) {\n    H = floor(X) @ pod[{x}, {y}, {z}]\n"
               "    Y[i, j, k] = H[i, j, k] + 1\n}")
        self.gives([k + 1.0 for k in range(7 * 3 * 8)], box, "X=iota")
        self.assertRegex(self.expect(0, "^$", "sharding", "s.tap").stdout.decode(), r"\nH .* f64\[1, 2, 3\], 48 bytes")

    def test_traps_of_padding(self):
        for devices in (4, 8, 5, 1):  # trap 13: what is missing from five cells is no cell
            mesh = f"mesh pod = [a: {devices}]\nprogram p(X: f64[5]) -> (Y: f64[]) {{\n    Z = floor(X) @ pod[{{a}}]\n    Y[] = "
            self.gives([5.0], mesh + "sum[i] exp(Z[i])\n}", "X=zeros", cut=devices > 1)
            self.gives([-1.0], mesh + "max[i] Z[i]\n}", "X=const:-1", cut=devices > 1)
            self.gives([1.0], mesh + "prod[i] Z[i]\n}", "X=ones", cut=devices > 1)
        self.gives([3.0], "mesh pod = [a: 2]\nprogram p(X: f64[5]) -> (Y: f64[]) {\n    Z = floor(X) @ pod[{a}]\n"  # trap 14
                          "    Y[] = (sum[i] Z[i]) / 5\n}", "X=[1, 2, 3, 4, 5]")

    def test_traps_of_reductions(self):
        mesh = "mesh pod = [a: 2]\n"
        self.gives([21.0], mesh + "program p(X: f64[2] @ pod[{a}], W: f64[2] @ pod[{a}], b: f64[]) -> (Y: f64[]) "
                                  "{ Y[] = b[] + sum[k] X[k] * W[k] }", "X=[1, 2]", "W=[3, 4]", "b=10")  # trap 15
        self.gives([2.0], mesh + "program p(X: f64[2] @ pod[{a}]) -> (Y: f64[]) { Y[] = abs(sum[k] X[k]) }",
                   "X=[3, -5]")  # trap 16
        self.gives([52.0, 50.0, 43.0, 86.0],
                   "mesh pod = [y: 2]\n"  # trap 17: what is combined is wanted in parts
                   "program p(X: f64[2, 4] @ pod[{}, {y}], W: f64[4, 2] @ pod[{y}, {}]) -> (Y: f64[2, 2] @ pod[{y}, {}]) "
                   "{ Y[i, o] = sum[k] X[i, k] * W[k, o] }", "X=[[1, 2, 3, 4], [5, 6, 0, 1]]",
                   "W=[[3, 10], [3, 5], [1, 2], [10, 6]]")
        self.assertIn("reduce_scatter", self.expect(0, "^$", "sharding", "s.tap", "--moves").stdout.decode())
        # Trap 18: h becomes a·h + b, from 1, in order: 2·1 + 1, 3·3 + 0, 1·9 - 4, 5·5 + 2 and 0·27 + 7, before the last 2·7 + 3.
        affine = """monoid affine(a: f64, b: f64) {
    identity (1, 0)
    combine (x, y) = (x.a * y.a, x.b * y.a + y.b)
}
"""
        for devices in (2, 3, 4, 8):
            self.gives([17.0], f"mesh pod = [a: {devices}]\n" + affine +
                       "program p(A: f64[6], B: f64[6]) -> (Y: f64[]) {\n    C = floor(A) @ pod[{a}]\n    D = floor(B) @ pod[{a}]\n"
                       "    (p[], q[]) = affine[t] (C[t], D[t])\n    Y[] = p[] + q[]\n}",
                       "A=[2, 3, 1, 5, 0, 2]", "B=[1, 0, -4, 2, 7, 3]")

    def test_a_line_of_the_plan_wins(self):
        self.write("p.plan", "plan 2\nsplit H dim o into 2 over threads\n")
        graph = self.same(DATA_PARALLEL.format(n=8), ["X=iota", "W=iota"], "--plan", "p.plan")
        self.assertEqual(graph.count("over axis pod.data"), 1)
        self.assertEqual(graph.count("over threads"), 1)

    def test_a_split_of_the_program_wins(self):
        text = DATA_PARALLEL.format(n=8).replace("    Y[i, o]", "    split H on o into 2 over threads\n    Y[i, o]")
        graph = self.same(text, ["X=iota", "W=iota"])
        self.assertEqual(graph.count("over axis pod.data"), 1)

    def test_groups_are_split_like_their_results(self):
        for n in (8, 10):
            self.write("s.tap", ATTENTION.format(n=n, seq=4))
            self.write("w.tap", SHARDED.sub("", ATTENTION.format(n=n, seq=4)))
            given = ["-i", "Q=iota", "-i", "K=iota", "-i", "V=iota"]
            self.write("empty.plan", "plan 2\n")  # with a plan, what --passes made is sharded
            for a, b in zip(self.numbers("s.tap", *FUSED, "--plan", "empty.plan", *given, output="`A.* reshard of `Y/L`"), self.numbers("w.tap", *given)):
                self.assertLessEqual(abs(a - b), 1e-6 * abs(b))

    def test_implicit_reshards(self):
        self.write("s.tap", ATTENTION.format(n=8, seq=4))
        self.write("m.tap", MLP.format(data=2, model=4, n=8, h=32))
        for command in ("run", "verify", "compile", "sharding", "opt"):
            more = {"opt": ["--stage", "sharded"], "compile": ["-o", "s"]}.get(command, [])
            given = ["-i", "Q=iota", "-i", "K=iota", "-i", "V=iota"] if command == "run" else []
            self.expect(1, r"error\[T0909\]: computing `A\.sum` requires an implicit reshard of `L` to .*: all_gather", command, "s.tap", "--no-implicit-reshard",
                        *more, *given)
        self.expect(0, "^$", "verify", "m.tap", "--no-implicit-reshard")

    def test_one_device_of_many(self):
        self.write("m.tap", MLP.format(data=2, model=4, n=8, h=32))
        part = self.expect(0, "^$", "inspect", "m.tap", "--device", "5").stdout.decode()
        # Its rows and columns, its part of the sum, and that of all: 3 of the 4 partials are from others.
        self.assertRegex(part, r"^device 5: 4 applications, receives 3 boxes \(288 bytes in total\) from other devices\n")
        self.assertRegex(part, r"device 5: H\[4\.\.8, 8\.\.16\]@5 = ")
        self.assertNotIn("device 4:", part)
        self.expect(2, "no operation runs on device 8", "inspect", "m.tap", "--device", "8")
        self.write("w.tap", SHARDED.sub("", DATA_PARALLEL.format(n=4)))
        self.expect(2, "no operation is split over devices", "inspect", "w.tap", "--device", "0")
        self.write("p.plan", "plan 2\nsplit H dim i into 2 over devices {3}, {9}\n")
        self.assertIn("device 9: H[2..4, 0..4]@9 = ",
                      self.expect(0, "^$", "inspect", "w.tap", "--plan", "p.plan", "--device", "9").stdout.decode())

    def test_a_value_on_one_device(self):
        text = "mesh m = [] devices [3]\nprogram p(X: f64[4]) -> (Y: f64[4] @ m[{}]) { Y[i] = X[i] + 1 }\n"
        self.assertIn("over devices [[3]]", self.same(text, ["X=iota"]))

    def test_given_shardings_are_kept(self):
        """Inputs and results whose size does not divide are cut as the program says; what was added is not."""
        for n, a in ((7, 8), (9, 4), (7, 2), (0, 2)):
            text = f"mesh m = [a: {a}]\nprogram p(X: f64[{n}] @ m[{{a}}]) -> (Y: f64[{n}] @ m[{{a}}]) {{ Y[i] = X[i] * 2 }}\n"
            graph = self.same(text, ["X=iota"])
            self.assertIn("over axis m.a", graph)
            self.assertEqual(self.transfers(graph), 0)
            listed = self.expect(0, "^$", "sharding", "s.tap").stdout.decode()
            self.assertRegex(listed, rf"\nX +f64\[{n}\]  m\[{{a}}\]  f64\[{-(-n // a)}\]")
        self.write("c.tap", "mesh m = [x: 2, y: 3]\n"
                            "program p(A: f64[7, 9] @ m[{x}, {}], B: f64[7, 9] @ m[{}, {x}]) -> (Y: f64[7, 9] @ m[{y}, {}]) {\n"
                            "    Y[i, j] = A[i, j] + 1 + B[i, j] * 2\n}\n")
        self.expect(0, "T0910", "run", "c.tap", "-i", "A=iota", "-i", "B=iota")
        self.expect(1, "T0909", "run", "c.tap", "-i", "A=iota", "-i", "B=iota", "--no-implicit-reshard")

    def test_ignored_shardings_are_reported(self):
        self.write("s.tap", "mesh m = [a: 2]\nprogram p(X: f64[4]) -> (Y: f64[8] @ m[{a}]) {\n"
                            "    Y[3 - i] = X[i] for i in 0..4\n    Y[4 + i] = 2 * X[i] for i in 0..4\n}\n")
        self.expect(0, r"^[\w.]+:\d+:\d+: remark\[T0801\]: a sharding cannot be implemented: .*write this value, and `Y@0` writes "
                       "it in reverse order", "run", "s.tap", "-i", "X=iota")

    def test_several_writers(self):
        """Parts side by side, in turn, borders of one cell: each operation writes the cells of the device's block."""
        for sharding in ("{a}, {}", "{}, {b}", "{a}, {b}", "{b, a}, {}"):
            for equations in ("Y[i, j] = H[i, j] for i in 0..5\n    Y[5 + i, j] = 3 * X[i, j] for i in 0..7",
                              "Y[2*i, j] = H[i, j] for i in 0..6\n    Y[2*i + 1, j] = H[i, j] + 1 for i in 0..6",
                              "Y[0, j] = f64(0) for j in 0..4\n    Y[11, j] = X[1, j]\n"
                              "    Y[1 + i, j] = H[i, j] + X[i + 1, j] for i in 0..10"):
                text = (f"mesh m = [a: 4, b: 2]\nprogram p(X: f64[12, 4]) -> (Z: f64[12, 4] @ m[{sharding}]) {{\n"
                        f"    H[i, j] = X[11 - i, j] * 2 for i in 0..12\n    {equations}\n    Z[i, j] = Y[i, j] + Y[i, 3 - j]\n}}\n")
                with self.subTest(sharding=sharding, equations=equations):
                    graph = self.same(text, ["X=iota"], output="^(?!.*T0801)")
                    self.assertRegex(graph, "over (axis m|devices)")


if __name__ == "__main__":
    unittest.main()
