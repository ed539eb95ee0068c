#!/usr/bin/python3
"""tapc run --mpi: several processes compute the same bits as one. mpi_test.py TAPC [--minutes 1]: also tests that take minutes"""
import json
import re
import shutil
import signal
import time
from pathlib import Path

import numpy

from mpi_job import *
from plan_search_test import MESHES, MLP, PICKS, PROGRAMS, examples
from tapc import *

MINUTES = option("--minutes", 0)
STENCIL = """program main(x: f32[40, 6]) -> (y: f32[40, 6]) {
    y = iterate 7 (u = x) { v[i, j] = (u[i - 1, j else 0] + u[i, j] * 2 + u[i + 1, j else 1]) / 4; v }
}
"""
FLOATS = """mesh pod = [data: 2, model: 3]
program main(X: f32[8, 12] @ pod[{data}, {}], W: f32[12, 18] @ pod[{}, {model}], V: f32[18, 5] @ pod[{model}, {}])
        -> (Y: f32[8, 5], s: f32[], h: f32[8, 18]) {
    h[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = sum[k] exp(h[i, k] / 64) * V[k, o]
    s[] = sum[i, o] Y[i, o]
}
"""
FAILING = """mesh pod = [x: 4]
program main(a: i32[8] @ pod[{x}], b: i32[8] @ pod[{x}]) -> (c: i32[8]) { c[i] = a[i] / b[i] }
"""


def read_safetensors(path):
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    return {name: numpy.frombuffer(data[begin + one["data_offsets"][0]:begin + one["data_offsets"][1]], "<f4").reshape(one["shape"])
            for name, one in json.loads(data[8:begin]).items()}


class Mpi(MpiTest):
    def inputs(self, program):
        found = re.findall(r"(\w+): (\w+)\[([^]]*)\]", program.split("->")[0])
        return [w for k, (name, kind, shape) in enumerate(found) for w in ("-i", f"{name}={kind}[{shape}]=rand:{k + 1}")]

    def same(self, ranks, program, plan=(), inputs=None):
        self.write("p.tap", program)
        arguments = ["p.tap", *plan, *(inputs or self.inputs(program))]
        self.expect(0, ".*", "run", *arguments, "-o", "@one.safetensors")
        for count in ranks:
            result = self.job(count, "run", *arguments, "-o", "@several.safetensors", "--mpi")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_same_bytes("one.safetensors", "several.safetensors")
            (self.folder / "several.safetensors").unlink()

    def assert_same_bytes(self, *names):
        first, *others = [(self.folder / name).read_bytes() for name in names]
        for name, other in zip(names[1:], others):
            self.assertEqual(first == other, True, f"{names[0]} and {name} differ")

    def test_found_plans(self):
        for k, (name, text) in enumerate(PROGRAMS.items()):
            mesh = MESHES[k % len(MESHES)]
            with self.subTest(program=name, mesh=mesh):
                self.write("p.tap", text)
                self.expect(0, ".*", "plan", "p.tap", "--mesh", mesh, "--pick", "smallest", "-o", "p.plan")
                self.same([2 + k % 2], text, ["--plan", "p.plan"])

    def test_examples(self):
        for k, (path, words, own) in enumerate(examples()):
            mesh = ("x=2", "x=4", "a=2,b=2")[k % 3]
            with self.subTest(example=path.name, mesh=mesh):
                self.expect(0, ".*", "plan", path, *own, "--mesh", mesh, "--pick", PICKS[(k + 1) % 4], "-o", "p.plan")
                self.expect(0, ".*", "run", path, *words, "--plan", "p.plan", "-o", "@one.npz")
                result = self.job(2 + k % 2, "run", path, *words, "--plan", "p.plan", "-o", "@several.npz", "--mpi")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.expect(0, ".*", "cmp", "one.npz", "several.npz")

    def test_kmeans_reads_a_result(self):
        (path, words, own), = [one for one in examples() if one[0].name == "kmeans.tap"]
        self.expect(0, ".*", "plan", path, *own, "--mesh", "x=2", "--pick", "smallest", "-o", "p.plan")
        self.expect(0, ".*", "run", path, *words, "--plan", "p.plan", "-o", "@one.npz")
        self.assertEqual(self.job(2, "run", path, *words, "--plan", "p.plan", "-o", "@several.npz", "--mpi").returncode, 0)
        self.expect(0, ".*", "cmp", "one.npz", "several.npz")

    def test_shardings_of_floats(self):
        self.same([1, 2, 3, 6, 7], FLOATS, inputs=["-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3"])

    def test_halos(self):
        for mesh in ("x=4", "x=5"):
            self.write("p.tap", STENCIL)
            self.expect(0, ".*", "plan", "p.tap", "--mesh", mesh, "--pick", "smallest", "-o", "p.plan")
            self.assertIn("dim i into", (self.folder / "p.plan").read_text())
            self.same([2, 3], STENCIL, ["--plan", "p.plan"])

    def test_listed_devices(self):
        self.write("p.plan", "plan 2\nsplit H.matmul dim i into 3 over devices {4, 0}, {2}, {1, 3}\n"
                             "split Y dim o into 2 over devices {3}, {0}\n")
        self.same([2, 3], MLP, ["--plan", "p.plan"], inputs=["-i", "X=rand:1", "-i", "W1=rand:2", "-i", "W2=rand:3"])

    def test_a_loop_on_one_device(self):
        text = "mesh m = [x: 2]\nprogram main(A: i64[4]) -> (Y: i64[4]) {\n" \
               "    t = iterate 2 (s = A) { w[i] = s[i] + A[i]; w }\n    Y[i] = t[i] * 2\n}\n"
        for plan in ("place t/w over devices {1}\n", "place t/w at 1 over m.x\n",
                     "place t/w over devices {0}\nplace Y over devices {1}\n"):
            self.write("p.plan", "plan 2\n" + plan)
            self.same([2, 3], text, ["--plan", "p.plan"], inputs=["-i", "A=iota"])

    def test_an_empty_block_beside_one_that_reads(self):
        text = "mesh m = [x: 2, y: 2]\nprogram main(A: i64[4, 4], B: i64[4, 4]) -> (d: i64[4, 4], p: i64[4, 4]) {\n" \
               "    d[i, j] = B[j, i] - B[i, j]\n    p[i, j] = sum[k in i..4] B[k, j] * A[i, k] for i in 0..4, j in 0..4\n}\n"
        self.write("p.plan", "plan 2\nsplit d dim j into 2 over m.y\nsplit d dim i into 2 over m.x\n"
                             "split p dim k into [0, 3, 4] over m.x\nsplit p dim k into 2 over m.y\n")
        self.same([4], text, ["--plan", "p.plan"], inputs=["-i", "A=rand:1", "-i", "B=rand:2"])

    def test_devices_in_an_order_of_their_own(self):
        self.same([2, 3], "mesh m = [a: 2, b: 2] devices [2, 0, 3, 1]\n"
                          "program main(x: i32[8, 8] @ m[{a}, {b}]) -> (y: i32[8, 8], s: i32[8]) {\n"
                          "    y[i, j] = x[j, i] + 1\n    s[i] = sum[j] y[i, j] * x[i, j]\n}\n")

    def test_a_result_that_later_operations_read(self):
        text = ("program main(x: i32[8, 6]) -> (y: i32[6], z: i32[8]) {\n    x0[j] = x[0, j]\n    y = iterate 2 (u = x0) { v[j] = u[j] + sum[i] x[i, j]; v }\n"
                "    z[i] = sum[j] x[i, j] * y[j]\n}\n")
        plans = ("split y/v dim j into 3 over axis grid.x", "split y/v.sum dim j into 3 over axis grid.x\nsplit y/v dim j into 3 over axis grid.x")
        for plan in plans:
            self.write("p.plan", f"plan 2\nmesh grid = [x: 3]\n{plan}\nsplit z dim i into 3 over axis grid.x\n")
            self.same([2, 3], text, ["--plan", "p.plan"])

    def test_without_devices(self):
        self.same([2], MLP, inputs=["-i", "X=rand:1", "-i", "W1=rand:2", "-i", "W2=rand:3"])

    def test_h12_one_process_needs_no_launcher(self):
        self.write("p.tap", FLOATS)
        self.expect(0, ".*", "run", "p.tap", "-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3", "--mpi", environment=LAUNCH)

    def test_a_job_has_run_when_its_last_process_has(self):
        self.write("p.tap", "program main(x: f32[40000], w: f32[2000]) -> (y: f32[40000]) { y[i] = sum[k] exp(x[i] * w[k]) }\n")
        self.write("p.plan", "plan 2\nsplit y dim i into 1 over devices {1}\n")
        result = self.job(2, "run", "p.tap", "--plan", "p.plan", "--threads", "1", "-i", "x=rand:1", "-i", "w=rand:2", "-o", "@y.npz", "--mpi", "--summary")
        self.assertRegex(result.stderr, r"ran in [0-9.e+]+ (ms|s): ")  # 80 million exponentials

    def test_a_failure_ends_the_job(self):
        self.write("p.tap", FAILING)
        for zero in (0, 3, 7):
            divisors = [5] * 8
            divisors[zero] = 0
            result = self.job(3, "run", "p.tap", "-i", "a=iota", "-i", f"b={divisors}", "--mpi")
            self.assertNotEqual(result.returncode, 0)
            self.assertRegex(result.stderr, rf"T1301\]: division by zero in `c` at i={zero}")

    def test_h06_processes_with_other_plans(self):
        self.write("p.tap", MLP)
        self.write("a.plan", "plan 2\nsplit Y dim i into 2 over devices {0}, {1}\n")
        self.write("b.plan", "plan 2\nsplit Y dim o into 2 over devices {0}, {1}\n")
        inputs = ["-i", "X=rand:1", "-i", "W1=rand:2", "-i", "W2=rand:3", "--mpi"]
        result = self.job(1, "run", "p.tap", "--plan", "a.plan", *inputs, ":", "-n", "1", TAPC, "run", "p.tap", "--plan", "b.plan",
                          *inputs)
        self.assertEqual(result.returncode, 6, result.stderr)
        self.assertRegex(result.stderr, "of the job has another program, plan, machine file, map of devices or --keep than process")

    def test_maps_of_devices(self):
        inputs = ["-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3"]
        self.write("p.tap", FLOATS)  # 6 devices
        self.expect(0, ".*", "run", "p.tap", *inputs, "-o", "@one.npz")
        for ranks, words in ((2, "0,1,0,1,0,1"), (3, "2,2,1,1,0,0"), (3, "2,0,0,0,0,0"), (3, "1,1,1,1,1,1"), (6, "5,3,1,0,2,4")):
            result = self.job(ranks, "run", "p.tap", *inputs, "--mpi", "--map", words, "-o", "@several.npz")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.expect(0, ".*", "cmp", "one.npz", "several.npz")
            (self.folder / "several.npz").unlink()

    def test_h06_processes_with_another_equation(self):
        """The schedules are the same."""
        self.write("p.tap", FAILING)
        self.write("q.tap", FAILING.replace("a[i] / b[i]", "a[i] - b[i]"))
        inputs = ["-i", "a=iota", "-i", "b=[1, 1, 1, 1, 1, 1, 1, 1]", "--mpi"]
        result = self.job(1, "run", "p.tap", *inputs, ":", "-n", "1", TAPC, "run", "q.tap", *inputs)
        self.assertEqual(result.returncode, 6, result.stderr)
        self.assertRegex(result.stderr, "process . of the job has another program")

    def test_h06_processes_with_other_maps(self):
        self.write("p.tap", FAILING)
        inputs = ["-i", "a=iota", "-i", "b=[1, 1, 1, 1, 1, 1, 1, 1]", "--mpi", "--map"]
        for other, code in (("0,0,1,1", 0), ("0,1,0,1", 6)):
            result = self.job(1, "run", "p.tap", *inputs, "0,0,1,1", ":", "-n", "1", TAPC, "run", "p.tap", *inputs, other)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertEqual("has another program, plan, machine file, map of devices or --keep than" in result.stderr, code != 0, result.stderr)

    def test_d11_h07_maps_that_do_not_fit(self):
        self.write("p.tap", FAILING)  # 4 devices
        inputs = ["-i", "a=iota", "-i", "b=iota", "-o", "c=@c.npy", "--mpi"]
        for words, message in ((["--map", "0,1,1"], "`--map` lists the processes of 3 devices, but the program uses 4 devices"),
                               (["--map", "0,1,1,2,2"], "`--map` lists the processes of 5 devices, but the program uses 4 devices"),
                               (["--map", "0,1,3,2"], "`--map` gives device 2 to process 3, but the job has 3 processes"),
                               (["--map=-1,1,2,2"], "`--map` gives device 0 to process -1, but the job has 3 processes"),
                               (["--one-device-per-rank"], "the program uses 4 devices, but the job has 3 processes")):
            result = self.job(3, "run", "p.tap", *inputs, *words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(result.stderr.count(message), 1, result.stderr)
            self.assertEqual(len(re.findall(r"error\[T\d+\]", result.stderr)), 1, result.stderr)
            self.assertFalse((self.folder / "c.npy").exists())
        for words in (["--map", "0,0,0,0"], ["--one-device-per-rank"]):
            self.expect(2, "--mpi", "run", "p.tap", *inputs[:-1], *words)
        self.expect(2, "--map cannot be combined with --one-device-per-rank", "run", "p.tap", *inputs, "--map", "0,0,0,0",
                    "--one-device-per-rank")

    def test_one_device_per_rank(self):
        self.write("p.tap", FAILING)
        inputs = ["-i", "a=iota", "-i", "b=[1, 2, 3, 4, 5, 6, 7, 8]", "--mpi", "--one-device-per-rank"]
        result = self.job(4, "run", "p.tap", *inputs)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_errors_are_reported_once(self):
        for text, inputs in ((FLOATS.replace("X[i, k]", "X[i, kk]"), []), (FLOATS, ["-i", "X=f32[3]=zeros"])):
            self.write("p.tap", text)
            result = self.job(3, "run", "p.tap", *inputs, "--mpi")
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual(len(re.findall(r"error\[T\d+\]", result.stderr)), 1, result.stderr)

    def test_results_are_written_once(self):
        self.write("p.tap", FLOATS)
        result = self.job(3, "run", "p.tap", "-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3", "--mpi")
        self.assertEqual(result.stdout.count("Y: f32"), 1)

    def test_tensors_larger_than_the_memory_of_one_process(self):
        rows, columns = 8192, 4096  # 128 MiB each
        numpy.save(self.folder / "x.npy", numpy.arange(rows * columns, dtype=numpy.float32).reshape(rows, columns) % 1000)
        self.write("p.tap", f"mesh pod = [x: 4]\nprogram main(X: f32[{rows}, {columns}] @ pod[{{x}}, {{}}], Z: f32[{rows}, {columns}])"
                            f" -> (Y: f32[{rows}, {columns}]) {{\n"
                            "    Y[i, j] = X[i - 1, j else 0] + X[i, j] * Z[i, j]\n}\n")
        inputs = ["-i", "X=@x.npy", "-i", "Z=rand:3", "--threads", "1"]
        self.expect(0, ".*", "run", "p.tap", *inputs, "-o", "Y=@one.npy")
        result = self.job(4, "run", "p.tap", *inputs, "-o", "Y=@four.npy", "--mpi", data_kib=200 * 1024)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_same_bytes("one.npy", "four.npy")
        result = self.job(1, "run", "p.tap", *inputs, "-o", "Y=@none.npy", "--mpi", data_kib=200 * 1024)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertFalse((self.folder / "none.npy").exists())

    def test_outputs_in_every_way(self):
        self.write("p.tap", FLOATS)  # Y has 2 boxes, h 6, s is computed by all
        arguments = ["p.tap", "-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3"]
        names = ("Y.npy", "h.npy", "s.npy", "some.safetensors", "all.npz")
        outputs = ["-o", "Y=@Y.npy", "-o", "h=@h.npy", "-o", "s=@s.npy", "-o", "h=@some.safetensors", "-o", "s=@some.safetensors",
                   "-o", "@all.npz", "-o", "Y=-"]
        expected = self.expect(0, ".*", "run", *arguments, *outputs).stdout
        for name in names:
            (self.folder / name).rename(self.folder / f"one.{name}")
        for ranks, options in ((3, []), (2, ["--io", "root"]), (4, ["--io", "each", "--expect", "h=@one.h.npy"])):
            result = self.job(ranks, "run", *arguments, *outputs, *options, "--mpi")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, expected.decode())
            for name in names:
                self.assert_same_bytes(f"one.{name}", name)
                (self.folder / name).unlink()
        result = self.job(3, "run", *arguments, "-o", "@own.safetensors", "--sharded-output", "--mpi")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.glob("*own*")),
                         [f"own-0000{k}-of-00003.safetensors" for k in (1, 2, 3)])
        whole = {name: numpy.load(self.folder / f"one.{name}.npy") for name in ("Y", "h", "s")}
        cells = 0
        for path in self.folder.glob("own-*"):
            for name, found in read_safetensors(path).items():
                of, box = re.fullmatch(r"(\w+)\[(.*)\]", name).groups()
                slices = tuple(slice(*map(int, r.split(".."))) for r in box.split(", ") if r)
                self.assertTrue(numpy.array_equal(whole[of][slices], found), name)
                cells += found.size
        self.assertEqual(cells, sum(one.size for one in whole.values()))
        for name in ("Y", "h", "s"):
            self.expect(0, ".*", "reshard", f"own.safetensors:{name}", "-o", f"{name}.npy")
            self.assert_same_bytes(f"one.{name}.npy", f"{name}.npy")

    def test_outputs_that_not_all_processes_see(self):
        self.write("p.tap", FAILING)
        for folder in ("here", "there"):
            (self.folder / folder).mkdir()
        arguments = ["run", self.folder / "p.tap", "-i", "a=iota", "-i", "b=[1, 2, 3, 4, 5, 6, 7, 8]", "-o", "c=@c.npy", "--mpi"]
        for options, code in (([], 4), (["--io", "root"], 0)):
            result = self.job(1, "--wdir", "here", TAPC, *arguments, *options, ":", "-n", "1", "--wdir", "there", TAPC, *arguments, *options)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertEqual((self.folder / "here/c.npy").exists(), code == 0)
            if code != 0:
                self.assertRegex(result.stderr, "process 1 does not see the file that process 0 has made for `c.npy`")
                self.assertRegex(result.stderr, "with `--io root`")
        self.assertEqual(list((self.folder / "there").iterdir()), [])

    def test_io_root_reads_inputs_for_all(self):
        """Only the first process sees the files; results are those of one process."""
        self.write("p.tap", FLOATS.replace("X: f32[8, 12]", "X: f32[a, 12]").replace("Y: f32[8, 5]", "Y: f32[a, 5]").replace("h: f32[8", "h: f32[a"))
        for folder in ("here", "there"):
            (self.folder / folder).mkdir()
        draw = numpy.random.default_rng(1)
        x, w, v = (draw.standard_normal(shape).astype(numpy.float32) for shape in ((8, 12), (12, 18), (18, 5)))
        numpy.save(self.folder / "here/x.npy", x)
        numpy.savez(self.folder / "here/all.npz", W=w, V=v)
        names = ["-i", "X=@x.npy", "-i", "@all.npz"]
        self.expect(0, ".*", "run", "p.tap", "-i", "X=@here/x.npy", "-i", "@here/all.npz", "-o", "@here/one.safetensors", "-o", "h=@here/h.npy")

        def job(ranks, *arguments):
            run = [TAPC, "run", self.folder / "p.tap", *arguments, "--mpi", "--io", "root"]
            return self.job(1, "--wdir", "here", *run, ":", "-n", str(ranks - 1), "--wdir", "there", *run)

        for ranks in (2, 3):
            result = job(ranks, *names, "-o", "@several.safetensors", "--expect", "h=@h.npy")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_same_bytes("here/one.safetensors", "here/several.safetensors")
            (self.folder / "here/several.safetensors").unlink()
            result = job(ranks, "-i", "X=f32[8,12]=rand:1", *names[2:], "-o", "Y=-", "--expect", "h=@h.npy")
            self.assertEqual(result.returncode, 5, result.stderr)
        for arguments, code, message in ((["-i", "X=@none.npy", *names[2:]], 4, "`none.npy`"),
                                         (["-i", "X=@all.npz:W", *names[2:]], 3, r"X is declared as|declares|`X`"),
                                         (names[:2], 3, "no value is given for `W`, `V`")):
            result = job(2, *arguments)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertRegex(result.stderr, message)
            self.assertEqual(len(re.findall("error.T", result.stderr)), 1, result.stderr)
        self.assertEqual(list((self.folder / "there").iterdir()), [])

    def test_outside_kernels(self):
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.folder / "smooth.so", ROOT / "examples/smooth.c"], check=True)
        self.write("p.plan", "plan 2\nmesh grid = [x: 3]\nsplit Z dim i into 3 over axis grid.x\nsplit Y dim i into [0, 2, 7] over devices {2}, {0}\n")
        self.same([2, 3], (ROOT / "examples/smooth.tap").read_text(), ["--plan", "p.plan", "--dim", "n=7", "--dim", "m=5", "--kernels",
                                                                       self.folder / "smooth.so"], inputs=["-i", "X=rand:1"])

    def test_h09_a_process_that_misses_an_input(self):
        self.write("p.tap", FAILING)
        for folder in ("here", "there"):
            (self.folder / folder).mkdir()
        numpy.save(self.folder / "here/a.npy", numpy.arange(8, dtype=numpy.int32))
        arguments = ["run", self.folder / "p.tap", "-i", "a=@a.npy", "-i", "b=[1, 2, 3, 4, 5, 6, 7, 8]", "-o", "c=@c.npy", "--mpi"]
        result = self.job(1, "--wdir", "here", TAPC, *arguments, ":", "-n", "1", "--wdir", "there", TAPC, *arguments)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertRegex(result.stderr, r"process 1 of the job: tapc: error\[T1203\]: `a\.npy`")
        self.assertFalse((self.folder / "here/c.npy").exists())

    def dying(self):
        """A program whose second process dies, stops or waits for ever in `Y`, as the variable DIES says."""
        self.write("k.c", r"""
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct region { void* data; const int64_t *extents, *strides; };
void dies(const int64_t* box, const int64_t* extents, const struct region* regions) {
  const char* how = getenv("DIES");
  for (int64_t i = box[0]; i < box[1]; ++i)
    ((float*)regions[1].data)[(i - box[0]) * regions[1].strides[0]] = ((float*)regions[0].data)[(i - box[0]) * regions[0].strides[0]];
  if (box[0] == 0) return;
  if (*how == 'x') exit(3);
  if (*how == 's') for (;;) pause();
  raise(atoi(how));
}
""")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "k.so", self.folder / "k.c"], check=True)
        self.write("p.tap", "extern op copied(x: f32[n]) -> (y: f32[n]) {\n"
                            "    index [i: n] read x at [i] shape [1] write y at [i] shape [1] kernel \"dies\" }\n"
                            "mesh pod = [x: 2]\nprogram main(X: f32[8] @ pod[{x}]) -> (Z: f32[8]) {\n    Y = copied(X)\n    Z[i] = Y[i] + Y[7 - i]\n}\n")
        return ["run", "p.tap", "-i", "X=iota", "--kernels", self.folder / "k.so", "-o", "Z=@z.npy", "--mpi", "--no-cache"]

    def processes(self):
        """Of tapc in this test's folder."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and (entry / "cwd").readlink() == self.folder and (entry / "exe").readlink() == TAPC:
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def test_h01_a_process_that_dies(self):
        arguments = self.dying()
        for how, message in (("9", r"was ended by signal 9 \(Killed\)"), ("7", "ended with exit code 70"), ("11", "ended with exit code 70"),
                             ("x", "ended with exit code 3")):
            began = time.monotonic()
            result = self.job(2, *arguments, environment={"DIES": how})
            self.assertLess(time.monotonic() - began, 5)
            self.assertNotEqual(result.returncode, 0)
            self.assertRegex(result.stderr, rf"process 1 of the job {message} while it computed `Y` at i in 4..8 on device 1\n")
            self.assertEqual(list(self.folder.glob("*z.npy")) + list(self.folder.glob(".tapc*")), [])

    def test_h02_a_process_that_hangs(self):
        arguments = self.dying()
        for how in ("s", str(int(signal.SIGSTOP))):
            began = time.monotonic()
            result = self.job(2, *arguments, "--timeout", "1", environment={"DIES": how})
            self.assertLess(time.monotonic() - began, 6)
            self.assertNotEqual(result.returncode, 0)
            self.assertRegex(result.stderr, r"process 1 of the job made no progress for 1 s while it computed `Y` at i in 4..8 on device 1\n")
        self.assertEqual(self.processes(), [])

    def test_h02_without_a_limit_a_process_hangs_for_ever(self):
        arguments = self.dying()
        job = subprocess.Popen([MPIRUN, "-n", "2", TAPC, *arguments, "--timeout", "0"], cwd=self.folder, start_new_session=True,
                               env=self.environment({"DIES": "s"}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(4)
        self.assertIsNone(job.poll())
        os.kill(job.pid, signal.SIGTERM)
        job.wait(timeout=10)

    @unittest.skipUnless(MINUTES, "takes more than a minute: in the campaign")
    def test_h02_by_default_a_process_hangs_for_a_minute(self):
        began = time.monotonic()
        result = self.job(2, *self.dying(), environment={"DIES": "s"}, timeout=90)
        self.assertGreater(time.monotonic() - began, 60)
        self.assertLess(time.monotonic() - began, 66)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"process 1 of the job made no progress for 60 s while it computed `Y` at i in 4..8 on device 1\n")

    def test_h11_a_process_that_is_slow(self):
        """It is stopped again and again, but never for as long as the timeout, and makes progress in between."""
        self.write("k.c", r"""
#include <stdint.h>
#include <unistd.h>
struct region { void* data; const int64_t *extents, *strides; };
void waits(const int64_t* box, const int64_t* extents, const struct region* regions) {
  (void)extents;
  for (int64_t i = box[0]; i < box[1]; ++i)
    ((float*)regions[1].data)[(i - box[0]) * regions[1].strides[0]] = 1 + ((float*)regions[0].data)[(i - box[0]) * regions[0].strides[0]];
  usleep(100000);
}
""")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "k.so", self.folder / "k.c"], check=True)
        self.write("p.tap", "extern op next(x: f32[n]) -> (y: f32[n]) {\n"
                            "    index [i: n] read x at [i] shape [1] write y at [i] shape [1] kernel \"waits\" }\n"
                            "program main(X: f32[8]) -> (Z: f32[8]) {\n    Z = iterate 20 (u = X) { v = next(u)\n w[i] = v[7 - i] + u[i]\n w }\n}\n")
        self.write("p.plan", "plan 2\nmesh grid = [x: 2]\nsplit Z/v dim i into 2 over axis grid.x\nsplit Z/w dim i into 2 over axis grid.x\n")
        arguments = ["run", "p.tap", "--plan", "p.plan", "-i", "X=iota", "--kernels", self.folder / "k.so", "--no-cache"]
        self.expect(0, ".*", *arguments, "-o", "Z=@one.npy")
        job = subprocess.Popen([MPIRUN, "-n", "2", TAPC, *arguments, "-o", "Z=@z.npy", "--mpi", "--timeout", "2"],
                               cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.wait_until(lambda: len(self.processes()) == 4)
        slow = max(self.processes())  # a child: of each pair the parent came first
        pulses = 0
        while job.poll() is None and pulses < 50:
            for signal_number, seconds in ((signal.SIGSTOP, 0.4), (signal.SIGCONT, 0.2)):
                try:
                    os.kill(slow, signal_number)
                except ProcessLookupError:
                    break
                time.sleep(seconds)
            pulses += 1
        output = job.communicate(timeout=20)[0].decode(errors="replace")
        self.assertEqual(job.returncode, 0, output)
        self.assertGreater(pulses, 3)
        self.assert_same_bytes("one.npy", "z.npy")

    def test_h05_a_launcher_that_dies(self):
        arguments = self.dying()
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            launcher = subprocess.Popen([MPIRUN, "-n", "2", TAPC, *arguments], cwd=self.folder, start_new_session=True,
                                        env=self.environment({"DIES": "s"}),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait_until(lambda: len(self.processes()) == 4)
            time.sleep(0.5)
            os.kill(launcher.pid, how)
            launcher.wait(timeout=10)
            self.wait_until(lambda: not self.processes())
            self.assertEqual(list(self.folder.glob("*z.npy")), [])

    def wait_until(self, condition):
        end = time.monotonic() + 5
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_h09_h10_resources_of_one_process(self):
        rows = 1 << 20
        self.write("p.tap", f"mesh pod = [x: 2]\nprogram main(X: f32[{rows}, 16] @ pod[{{x}}, {{}}]) -> (Y: f32[{rows}, 16]) {{ Y[i, j] = X[i, j] * 2 }}\n")
        arguments = [TAPC, "run", "p.tap", "-i", "X=rand:1", "-o", "Y=@y.npy", "--mpi"]
        for limit, message in ((f"-f {100 * 1024}", r"`y\.npy` cannot be written by process 1: File too large"),
                               (f"-d {40 * 1024}", "do(es)? not fit in memory|out of memory")):
            result = self.job(1, "--wdir", self.folder, *arguments, ":", "-n", "1", "sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *arguments)
            self.assertEqual(result.returncode, 4, result.stderr)
            self.assertRegex(result.stderr, message)
            self.assertEqual(list(self.folder.glob("*y.npy")), [])
            # MPICH's launcher ends the others by SIGKILL: what a process was writing is removed by the next run.
            if list(self.folder.glob(".tapc*")):
                self.assertEqual(os.environ.get("TAP_MPI"), "mpich")
                self.assertEqual(self.job(2, *arguments[1:]).returncode, 0)
                self.assertEqual(list(self.folder.glob(".tapc*")), [])
                (self.folder / "y.npy").unlink()

    def test_h12_wrong_uses(self):
        self.write("p.tap", MLP)
        self.expect(2, "`--mpi` needs native code", "run", "p.tap", "--engine", "interp", "--mpi", "-i", "X=rand:1", "-i", "W1=rand:2",
                    "-i", "W2=rand:3")
        alone = self.folder / "alone"
        alone.mkdir()
        shutil.copy(TAPC, alone / "tapc")  # without the shims beside it
        result = subprocess.run([alone / "tapc", "run", "p.tap", "-i", "X=rand:1", "-i", "W1=rand:2", "-i", "W2=rand:3", "--mpi"],
                                cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertRegex(result.stderr, r"`libtapc_mpi_openmpi\.so`, which --mpi needs, cannot be loaded")

    def test_links_are_measured(self):
        ranks = 3
        result = self.job(ranks, "calibrate", "--mpi", "-o", "m.toml", timeout=100)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"links\.node\.latency +\S+ +\+- \S+ %\nlinks\.node\.bandwidth +\S+ +\+- \S+ %\n")
        text = (self.folder / "m.toml").read_text()
        self.assertRegex(text, rf"^# Measured by tapc calibrate in \S+ s, by {ranks} processes")
        links = re.search(r"\[\[links\]\]\nname = \"node\"\nshared = false\nring = false\ncount = (\d)\nlatency = (\S+)\nbandwidth = (\S+)\n", text)
        self.assertEqual(int(links[1]), ranks)
        self.assertTrue(1e-8 < float(links[2]) < 1, text)
        self.assertTrue(1e5 < float(links[3]) < 1e12, text)
        self.write("p.tap", MLP)  # the file is read, and its devices are counted
        self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=3", "--machine", "m.toml")
        self.expect(4, "a mesh of 4 devices does not fit: the machine file has 3", "plan", "p.tap", "--mesh", "x=4", "--machine", "m.toml")

    def test_processes_that_would_measure_the_same(self):
        result = self.job(2, "calibrate", "-o", "m.toml")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, "2 processes were started.*(?s:.*)add `--mpi`")
        self.assertFalse((self.folder / "m.toml").exists())


if __name__ == "__main__":
    unittest.main()
