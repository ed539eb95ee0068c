#!/usr/bin/python3
"""What `tapc cost` predicts, in a table and as JSON.
cost_test.py TAPC"""
import json
import tomllib

from json_schema import problems
from tapc import *

PRODUCT = """program product(A: f32[n, n], B: f32[n, n]) -> (C: f32[n, n]) { C[i, j] = sum[k] A[i, k] * B[k, j] }
"""
# Other names of the same: nothing may depend on them.
RENAMED = """program softmax(matmul: f32[n, n], relu: f32[n, n]) -> (exp1: f32[n, n]) {
    exp1[row, col] = sum[inner] matmul[row, inner] * relu[inner, col] }
"""

MESH = """mesh pod = [data: 4, model: 2]
program layer(X: f32[64, 64] @ pod[{data}, {}], W: f32[64, 128] @ pod[{}, {model}],
              V: f32[128, 64] @ pod[{model}, {}]) -> (Y: f32[64, 64] @ pod[{data}, {}]) {
    H[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = sum[k] H[i, k] * V[k, o]
}
"""
DISTANCE = """program distance(A: f32[64, 64], B: f32[64, 64]) -> (C: f32[64, 64]) {
    C[i, j] = sum[k] (A[i, k] - B[k, j]) * (A[i, k] - B[k, j]) }
"""
# G01 of machine files.
BAD = [
    ("[rates.f33]\narithmetic = 1\n", r"unknown element type in \[rates\]: `f33`[\s\S]*did you mean `f32`"),
    ("[rates.f32]\narithmetics = 1\n", r"unknown key in \[rates.f32\]: `arithmetics`[\s\S]*did you mean `arithmetic`"),
    ("[rates.f32]\nmixd = 1\n", r"unknown key in \[rates.f32\]: `mixd`[\s\S]*did you mean `mixed`"),
    ("[rates.f32]\nmixed = 0\n", r"`mixed` is 0; expected 1/s to 1e\+18/s"),
    ("[rates.f32]\ndivide = 0\n", r"`divide` is 0; expected 1/s to 1e\+18/s"),
    ("[rates.f32]\ndivide = -3.5\n", r"`divide` is -3.5"),
    ("[rates.f32]\ndivide = inf\n", r"`divide` is not a rate"),
    ("[rates.f32]\ndivide = nan\n", r"`divide` is not a rate"),
    ("[rates.f32]\ndivide = \"1e400 G/s\"\n", r"`divide` is not a rate"),
    ("[rates.f32]\ndivide = \"3 GB/s\"\n", r"`divide` is not a rate[\s\S]*90 G/s"),
    ("[read]\nmemory = \"12 parsecs\"\n", r"`memory` is not a bandwidth"),
    ("overlap = 1.5\n", r"`overlap` is 1.5; expected 0 to 1"),
    ("threads = 0\n", r"`threads` is 0; expected 1 to 1048576"),
    ("threads = 9223372036854775807\n", r"`threads` is 9.22\d*e\+18; expected"),
    ("threads = 99999999999999999999\n", r"invalid TOML"),
    ("cal = 1\n", r"unknown key: `cal`[\s\S]*did you mean `call`"),
    ("call = \"2 hours\"\n", r"`call` is not a time"),
    ("[[devices]]\nname = \"a\"\n[[devices]]\nname = \"a\"\n", r"two entries of \[\[devices\]\] are named `a`"),
    ("threads = 2\n[[devices]]\nname = \"a\"\n", r"`threads` cannot be combined with \[\[devices\]\]"),
    ("[[devices]]\nthread = 2\n", r"unknown key in \[\[devices\]\]: `thread`[\s\S]*did you mean `threads`"),
    ("[devices]\nname = \"a\"\n", r"`devices` is a list of tables[\s\S]*\[\[devices\]\]"),
    ("[[links]]\ncount = 4\n", r"this link has no bandwidth"),
    ("[[links]]\nbandwidth = 1\nring = 3\n", r"`ring` is not true or false"),
    ("[[links]]\nbandwidth = 1\ncount = 1048576\n[[links]]\nbandwidth = 1\ncount = 1048576\n", r"join more than 1048576 devices"),
    ("[[devices]]\ncount = 3\n[[links]]\nbandwidth = 1\ncount = 4\n", r"the links join 4 devices, and \[\[devices\]\] lists 3"),
    ("[[links]]\nbandwidth = 1\ncount = 4\n[[pairs]]\nfrom = 0\nto = 4\nbandwidth = 1\n", r"a pair names device 4, but there are only 4"),
    ("[[pairs]]\nfrom = 1\nto = 1\nbandwidth = 1\n", r"joins device 1 with itself"),
    ("[terms]\na = \"a + 1\"\n", r"`a` needs `a`, which is itself"),
    ("[terms]\na = \"b\"\nb = \"a\"\n", r"`a` needs `b`, which is defined below"),
    ("[terms]\na = \"2 * cals\"\n", r"uses the unknown name `cals`[\s\S]*did you mean `calls`"),
    ("[terms]\na = \"2 *\"\n", r"invalid formula of `a`: expected a number"),
    ("[terms]\na = 2\n", r"`a` is not a formula"),
]


SCHEMA = json.loads((ROOT / "docs/schema/cost.schema.json").read_text())


class Cost(TapcTest):
    def json(self, file, *options):
        found = json.loads(self.tapc("cost", file, "--json", *options).stdout)
        self.assertEqual(list(problems(found, SCHEMA)), [])
        return found

    def test_a_table(self):
        self.write("p.tap", PRODUCT)
        output = self.tapc("cost", "p.tap", "--dim", "n=256").stdout.decode()
        self.assertRegex(output, r"^operation +task +total +compute")
        self.assertRegex(output, r"\nC +kernel 0 ")
        self.assertRegex(output, r"\ntotal ")
        self.assertRegex(output, r"\npeak memory: \S+ \S+ \(512 KiB inputs, 256 KiB results")

    def test_terms_add_up(self):
        self.write("p.tap", PRODUCT)
        cost = self.json("p.tap", "--dim", "n=256")
        for part in [cost["total"], *cost["operations"]]:
            self.assertAlmostEqual(part["seconds"], sum(part["terms"].values()))
        self.assertAlmostEqual(cost["total"]["seconds"], sum(row["seconds"] for row in cost["operations"]))
        self.assertEqual(cost["memory"]["peak"], sum(cost["memory"][k] for k in ("inputs", "outputs", "arena", "prepared", "scratch")))

    def test_work_is_counted(self):
        self.write("p.tap", PRODUCT)
        for n in (96, 256, 300):
            done = self.json("p.tap", "--dim", f"n={n}")["total"]["amounts"]["operations"]
            self.assertAlmostEqual(done / (2 * n ** 3), 1, delta=0.05)

    def test_names_do_not_matter(self):
        self.write("p.tap", PRODUCT)
        self.write("q.tap", RENAMED)
        a, b = self.json("p.tap", "--dim", "n=128"), self.json("q.tap", "--dim", "n=128")
        self.assertEqual(a["total"], b["total"])

    def test_a_program_as_written(self):
        """Without the order of products that would save operations."""
        self.write("p.tap", """program p(X: f32[64, 48, 40], B: f32[48, 32], C: f32[40, 32]) -> (Y: f32[64, 32]) {
    Y[i, r] = sum[j, k] X[i, j, k] * B[j, r] * C[k, r] }
""")
        self.assertIn("kernel 1", self.tapc("cost", "p.tap").stdout.decode())
        self.assertNotIn("kernel 1", self.tapc("cost", "p.tap", "--plan", "none").stdout.decode())

    def test_one_device_of_a_mesh(self):
        self.write("m.tap", MESH)
        for machine in sorted((ROOT / "examples/machines").glob("*.toml")):
            with self.subTest(machine=machine.name):
                output = self.tapc("cost", "m.tap", "--device", "0", "--machine", machine).stdout.decode()
                self.assertRegex(output, r"\nY.partial.moved +message +[\s\S]*\ntotal ")
        far, near = (self.json("m.tap", "--device", "0", "--machine", ROOT / "examples/machines/gpu_nodes.toml", "--mesh", mesh)
                     for mesh in ("data=1,model=32", "data=8,model=4"))
        self.assertEqual(far["total"]["amounts"]["messages"], 31)
        self.assertEqual(near["total"]["amounts"]["messages"], 3)
        self.assertGreater(far["total"]["terms"]["latency"], near["total"]["terms"]["latency"])
        # What a machine file omits is as without one: after `tapc calibrate`, too, messages take time.
        self.write("none.toml", "")
        for machine in ("none.toml", "builtin"):
            self.assertGreater(self.json("m.tap", "--device", "0", "--machine", machine)["total"]["terms"]["latency"], 0)
        # One device is looked at, however many there are; one that has nothing to do costs next to nothing.
        many = self.json("m.tap", "--device", "4095", "--mesh", "data=2048,model=2")
        self.assertEqual(many["total"]["amounts"]["operations"], 0)

    def test_wrong_meshes(self):
        self.write("m.tap", MESH)
        self.expect(2, "is not an axis of the program[\\s\\S]*did you mean `data`", "cost", "m.tap", "--mesh", "dat=4")
        for mesh in ("data", "data=0", "data=-1", "data=x", "data=99999999999999999999", "=4"):
            self.expect(2, "is not of the form AXIS=SIZE|is not an axis", "cost", "m.tap", "--mesh", mesh)
        self.expect(2, "no operation runs on device 99", "cost", "m.tap", "--device", "99")
        self.write("p.tap", PRODUCT)
        self.expect(2, "no operation is split over devices", "cost", "p.tap", "--dim", "n=8", "--device", "0")

    def test_a_machine_file(self):
        self.write("p.tap", PRODUCT)
        seconds = []
        for rate in ("1 G/s", "100 G/s"):
            self.write("m.toml", f'call = 0\n[rates.f32]\narithmetic = "{rate}"\n')
            seconds.append(self.json("p.tap", "--dim", "n=256", "--machine", "m.toml")["total"]["terms"]["compute"])
        self.assertAlmostEqual(seconds[0] / seconds[1], 100, delta=30)
        self.write("m.toml", '[terms]\ntax = "1000 * calls"\n[prices]\neuros = 2\n')
        cost = self.json("p.tap", "--dim", "n=8", "--machine", "m.toml")
        self.assertEqual(cost["total"]["terms"]["tax"], 1000)
        self.assertAlmostEqual(cost["prices"]["euros"], 2 * cost["total"]["seconds"])

    def test_a_machine_file_with_threads_says_all_about_them(self):
        """The processors of this machine do not matter then: neither for the number of threads nor for the rates of all of them."""
        self.write("p.tap", PRODUCT)
        one = lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        for file in ("threads = 6\n", "threads = 6\n[read]\nl2 = \"30 GB/s\"\nmemory = \"9 GB/s\"\n", "[[devices]]\nname = \"d\"\nthreads = 6\n"):
            self.write("m.toml", file)
            costs = [self.tapc("cost", "p.tap", "--dim", "n=4096", "--json", "--machine", "m.toml", before=before).stdout
                     for before in (one, None)]
            self.assertEqual(costs[0], costs[1])
            self.assertEqual(costs[0], self.tapc("cost", "p.tap", "--dim", "n=4096", "--json", "--machine", "m.toml", "--threads", "6").stdout)

        def memory(file):
            self.write("m.toml", "threads = 6\n" + file)
            return self.json("p.tap", "--dim", "n=4096", "--machine", "m.toml")["total"]["terms"]["memory"]

        # What all threads reach together: four times what one does, unless the file says it.
        self.assertEqual(memory("[read]\nmemory = \"9 GB/s\"\n"), memory("[read]\nmemory = \"9 GB/s\"\n[read_all]\nmemory = \"36 GB/s\"\n"))
        self.assertGreater(memory("[read_all]\nmemory = \"1 GB/s\"\n"), memory(""))

    def test_additions_beside_products(self):
        """A file without `add` and `mixed` has both on the same units, without `minimum` minima as fast as additions."""
        self.write("p.tap", DISTANCE)
        whole = 'call = 0\n[rates.f32]\narithmetic = "1 G/s"\nadd = "1 G/s"\nminimum = "1 G/s"\nmixed = '

        def compute(text):
            self.write("m.toml", text)
            return self.json("p.tap", "--plan", "none", "--machine", "m.toml")["total"]["terms"]["compute"]

        old = compute('call = 0\n[rates.f32]\narithmetic = "1 G/s"\n')
        self.assertAlmostEqual(compute(whole + '"1 G/s"\n') / old, 1)
        self.assertAlmostEqual(compute(whole + '"2 G/s"\n') / old, 0.5, delta=0.05)
        self.assertAlmostEqual(compute('call = 0\n[rates.f32]\narithmetic = "2 G/s"\nadd = "1 G/s"\n') / old, 0.75, delta=0.05)

    def test_machine_files_that_are_wrong(self):
        self.write("p.tap", PRODUCT)
        for text, pattern in BAD:
            with self.subTest(text=text):
                self.write("bad.toml", text)
                output = self.expect(3, pattern, "cost", "p.tap", "--dim", "n=8", "--machine", "bad.toml").output
                self.assertRegex(output, r"bad\.toml:\d+:\d+")

    def test_it_measures_this_machine(self):
        self.write("p.tap", PRODUCT)
        output = self.tapc("calibrate", "-o", "here.toml", timeout=120).stdout.decode()
        for kind in ("arithmetic", "add", "minimum", "mixed", "gather", "exponential"):
            self.assertRegex(output, rf"rates\.f32\.{kind} +\S+ +\+- \S+ %")
        text = (self.folder / "here.toml").read_text()
        self.assertRegex(text, "^# Measured")
        for rates in tomllib.loads(text)["rates"].values():
            # Between what both reach on the same units and on separate ones.
            products, additions, mixed = (rates[key] for key in ("arithmetic", "add", "mixed"))
            self.assertGreaterEqual(mixed * 1.0001, 2 / (1 / products + 1 / additions))
            self.assertLessEqual(mixed, 1.0001 * (products + additions))
        cost = self.json("p.tap", "--dim", "n=256", "--machine", "here.toml")
        self.assertGreater(cost["total"]["seconds"], 0)
        self.assertEqual(self.tapc("calibrate", "-o").returncode, 2)

    def test_an_installed_machine_file_is_the_default(self):
        self.write("p.tap", PRODUCT)
        env = {"XDG_CONFIG_HOME": str(self.folder / "config")}

        def seconds(*options, **environment):
            output = self.tapc("cost", "p.tap", "--dim", "n=256", "--json", *options, environment={**env, **environment})
            return json.loads(output.stdout)["total"]["seconds"]

        usual = seconds()
        (self.folder / "config/tapc").mkdir(parents=True)
        self.write("config/tapc/machine.toml", '[rates.f64]\narithmetic = "1 M/s"\n[rates.f32]\narithmetic = "1 M/s"\n')
        self.assertGreater(seconds(), 10 * usual)
        self.assertEqual(seconds("--machine", "builtin"), usual)
        self.assertEqual(seconds(XDG_CONFIG_HOME="relative", HOME=""), usual)
        self.write("config/tapc/machine.toml", "nonsense")
        self.assertEqual(self.tapc("cost", "p.tap", "--dim", "n=256", environment=env).returncode, 3)

    def test_read_only_configuration(self):
        output = self.expect(4, "T1201.*nowhere to install", "calibrate", environment={"XDG_CONFIG_HOME": "", "HOME": ""})
        self.assertIn("-o FILE", output.output)


if __name__ == "__main__":
    unittest.main()
