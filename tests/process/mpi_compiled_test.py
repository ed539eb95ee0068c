#!/usr/bin/python3
"""Compiled programs in MPI jobs: `mpirun -n 3 ./prog`, and a library in an MPI program of the user. mpi_compiled_test.py TAPC"""
import contextlib
import re
import shutil
import signal
import time
from pathlib import Path

import numpy

from mpi_job import *
from tapc import *

# Weights are constants; sums over axes that are sharded; a result that every device has; one that is also read.
LAYERS = """mesh pod = [data: 2, model: 3]
program main(X: f32[9, 12] @ pod[{data}, {}], const W: f32[12, 18] @ pod[{}, {model}], const V: f32[18, 5] @ pod[{model}, {}])
        -> (Y: f32[9, 5], s: f32[], h: f32[9, 18]) {
    h[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = sum[k] exp(h[i, k] / 64) * V[k, o]
    s[] = sum[i, o] Y[i, o]
}
"""
STENCIL = """mesh m = [x: 4]
program main(x: i32[41, 6] @ m[{x}, {}]) -> (y: i32[41, 6]) {
    y = iterate 7 (u = x) { v[i, j] = u[i - 1, j else 0] + u[i, j] * 3 - u[i + 1, j else 1]; v }
}
"""
DIVIDE = """mesh pod = [x: 4]
program main(a: i32[8] @ pod[{x}], b: i32[8] @ pod[{x}]) -> (c: i32[8]) { c[i] = a[i] / b[i] }
"""
MANY_TRIPS = """mesh m = [x: 4]
program main(x: f32[400] @ m[{x}]) -> (y: f32[400]) { y = iterate 50000000 (u = x) { v[i] = u[i] * 1.5 - u[i - 1 else 0]; v } }
"""

# Each process fills its parts by a formula, runs twice, and writes its parts of the results with their boxes.
MAIN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "p.h"

static const int64_t ranks_of[3][3] = {{2, 2, 0}, {2, 0, 0}, {2, 0, 2}}; /* axes of constants W V, inputs X, outputs Y s h */
static const char *names[3][3] = {{"W", "V", 0}, {"X", 0, 0}, {"Y", "s", "h"}};

static float cell(int kind, int64_t tensor, int64_t i, int64_t j) {
  return (float)((i * 31 + j * 17 + (kind * 3 + tensor) * 7) % 23 - 11) / 8;
}

static tapestry_tensor *parts(int kind, int64_t rank, int64_t size, int64_t *count) {
  tapestry_tensor *made = calloc(64, sizeof *made);
  int64_t bounds[4] = {0, 1, 0, 1}, tensor;
  for (*count = 0; (tensor = p_part(kind, rank, size, *count, bounds)) >= 0; ++*count) {
    if (ranks_of[kind][tensor] == 0) bounds[0] = bounds[2] = 0, bounds[1] = bounds[3] = 1;
    int64_t rows = bounds[1] - bounds[0], columns = bounds[3] - bounds[2], i, j;
    float *cells = malloc((size_t)(rows * columns) * sizeof *cells + 1);
    for (i = 0; i < rows; ++i)
      for (j = 0; j < columns; ++j) cells[i * columns + j] = cell(kind, tensor, bounds[0] + i, bounds[2] + j);
    made[*count].data = cells;
  }
  return made;
}

static void save(const tapestry_tensor *made, int64_t rank, int64_t size) {
  int64_t bounds[4] = {0, 1, 0, 1}, tensor, k;
  for (k = 0; (tensor = p_part(2, rank, size, k, bounds)) >= 0; ++k) {
    char name[64];
    FILE *file;
    if (ranks_of[2][tensor] == 0) bounds[0] = bounds[2] = 0, bounds[1] = bounds[3] = 1;
    snprintf(name, sizeof name, "%s-%d-%d-%d-%d.part", names[2][tensor], (int)bounds[0], (int)bounds[1], (int)bounds[2], (int)bounds[3]);
    file = fopen(name, "wbx");
    if (!file) { fprintf(stderr, "%s is written twice\n", name); MPI_Abort(MPI_COMM_WORLD, 9); }
    fwrite(made[k].data, sizeof(float), (size_t)((bounds[1] - bounds[0]) * (bounds[3] - bounds[2])), file);
    fclose(file);
  }
}

int main(int argc, char **argv) {
  int granted, world, rank, size, number = 0, wanted = argc > 1 ? atoi(argv[1]) : MPI_THREAD_FUNNELED;
  int64_t constants, inputs, outputs;
  p_context *c = 0;
  tapestry_options options = {argc > 2 ? atoi(argv[2]) : 2, 0};
  char text[512];
  MPI_Comm reversed;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Init_thread(&argc, &argv, wanted, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &reversed);
  MPI_Comm_rank(reversed, &rank);
  MPI_Comm_size(reversed, &size);
  /* A message of the caller that may match any other: the program's must not meet it. */
  if (rank == 0 && size > 1) MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, &request);
  tapestry_tensor *k = parts(0, rank, size, &constants), *in = parts(1, rank, size, &inputs), *out = parts(2, rank, size, &outputs);
  int status = p_prepare_mpi(&c, MPI_Comm_c2f(reversed), k, &options);
  for (int run = 0; run < 2 && status == 0; ++run) status = p_run(c, in, out);
  if (status != 0) {
    p_message(c, text, sizeof text);
    printf("%d: %s\n", status, text);
    p_release(c);
    MPI_Finalize();
    return 0;
  }
  save(out, rank, size);
  p_release(c);
  if (rank == 1) { number = 42; MPI_Send(&number, 1, MPI_INT, 0, 5, reversed); }
  if (rank == 0 && size > 1) { MPI_Wait(&request, MPI_STATUS_IGNORE); printf("number %d\n", number); }
  MPI_Finalize();
  return 0;
}
"""


def formula(kind, tensor, shape):
    i, j = numpy.indices(shape)
    return (((i * 31 + j * 17 + (kind * 3 + tensor) * 7) % 23 - 11) / 8).astype("f4")


class Compiled(MpiTest):
    def start(self, ranks, *words, environment=None):
        return subprocess.Popen([MPIRUN, "-n", str(ranks), *words], cwd=self.folder, env=self.environment(environment),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True)

    def launch(self, ranks, *words, timeout=60, environment=None):
        process = self.start(ranks, *words, environment=environment)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail(f"{words} did not end: {process.communicate()}")
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def shim(self, folder=""):
        name = f"libtapc_mpi_{os.environ.get('TAP_MPI', 'openmpi')}.so"
        (self.folder / folder).mkdir(exist_ok=True)
        shutil.copy(TAPC.parent / name, self.folder / folder / name)

    def compiled(self, program, processes, *more, name="p"):
        self.write(f"{name}.tap", program)
        self.expect(0, "^$", "compile", f"{name}.tap", "-o", f"{name}.so", "--emit=exe", "--mpi", processes, *more)

    def save_inputs(self, inputs):
        for name, cells in inputs.items():
            numpy.save(self.folder / f"{name}.npy", cells)
        return [word for name in inputs for word in ("-i", f"{name}=@{name}.npy")]

    def outputs(self, names, folder):
        (self.folder / folder).mkdir(exist_ok=True)
        return [word for name in names for word in ("-o", f"{name}=@{folder}/{name}.npy")]

    def assert_same(self, names, *folders):
        for name in names:
            one, *others = [(self.folder / folder / f"{name}.npy").read_bytes() for folder in folders]
            for other in others:
                self.assertTrue(one == other, name)

    def test_a_program_has_the_results_of_threads(self):
        """Same bits for 1, 2, 3, 4 and more processes than devices, with one thread and two; nothing else is written."""
        draw = numpy.random.default_rng(1)
        layers = {name: draw.standard_normal(shape).astype("f4") for name, shape in (("X", (9, 12)), ("W", (12, 18)), ("V", (18, 5)))}
        layers["W"] = numpy.asfortranarray(layers["W"])  # boxes of such files are read, too
        stencil = {"x": draw.integers(-99, 99, (41, 6), "i4")}
        for program, inputs, results in ((LAYERS, layers, ("Y", "s", "h")), (STENCIL, stencil, ("y",))):
            self.compiled(program, "2,3,4,7")
            self.shim()
            given = self.save_inputs(inputs)
            self.expect(0, ".*", "run", "p.tap", *given, *self.outputs(results, "one"))
            alone = self.folder / "p"
            done = subprocess.run([alone, *given, *self.outputs(results, "alone")], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assert_same(results, "one", "alone")
            for ranks in (1, 2, 3, 4, 7):
                with self.subTest(ranks=ranks, results=results):
                    done = self.launch(ranks, "./p", *given, *self.outputs(results, "job"), "--threads", str(1 + ranks % 2))
                    self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", ""))
                    self.assert_same(results, "one", "job")
                    self.assertEqual(sorted(p.name for p in (self.folder / "job").iterdir()), sorted(f"{r}.npy" for r in results))
                    shutil.rmtree(self.folder / "job")

    def test_a_process_has_memory_for_its_part(self):
        """4 processes with 100 MiB of data each: the tensors take 256 MiB."""
        self.compiled("""mesh m = [x: 4]
            program main(a: f32[4, 8388608] @ m[{x}, {}]) -> (b: f32[4, 8388608]) { b[i, j] = 2 * a[i, j] + 1 }""", "4")
        self.shim()
        cells = numpy.lib.format.open_memmap(self.folder / "a.npy", mode="w+", dtype="<f4", shape=(4, 8388608))
        for row in range(4):
            cells[row] = numpy.arange(8388608) % 1000 + row
        cells.flush()
        words = ["-i", "a=@a.npy", "-o", "b=@b.npy"]
        done = self.launch(4, "sh", "-c", 'ulimit -d 102400; exec "$@"', "sh", "./p", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = numpy.load(self.folder / "b.npy", mmap_mode="r")
        for row in range(4):
            self.assertTrue(numpy.array_equal(found[row], 2 * cells[row] + 1))
        (self.folder / "b.npy").unlink()
        done = subprocess.run(["sh", "-c", 'ulimit -d 102400; exec "$@"', "sh", "./p", *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (4, "./p: out of memory\n"))

    def test_a_library_in_a_program_of_the_user(self):
        """Its own communicator, whose processes are in another order; its messages and the program's do not meet."""
        self.write("q.tap", LAYERS)
        given = self.save_inputs({"W": formula(0, 0, (12, 18)), "V": formula(0, 1, (18, 5)), "X": formula(1, 0, (9, 12))})
        self.expect(0, ".*", "run", "q.tap", *given, *self.outputs(("Y", "s", "h"), "one"))
        self.compiled(LAYERS, "2,3", "--name", "p")
        self.write("main.c", MAIN)
        subprocess.run([shutil.which(f"mpicc.{os.environ.get('TAP_MPI', 'openmpi')}"), "-Wall", "-Werror", "main.c", "./p.so", "-o", "user",
                        "-Wl,-rpath,$ORIGIN"], cwd=self.folder, check=True)
        done = self.launch(2, "./user")
        self.assertEqual(done.returncode, 0, done.stderr)
        name = f"libtapc_mpi_{os.environ.get('TAP_MPI', 'openmpi')}.so"
        self.assertEqual(done.stdout.count(f"7: `{name}` is missing"), 2, done.stdout)
        self.shim()
        for ranks in (1, 2, 3):
            done = self.launch(ranks, "./user")
            self.assertEqual((done.returncode, done.stdout), (0, "number 42\n" if ranks > 1 else ""), done.stderr)
            for result, shape in (("Y", (9, 5)), ("s", (1, 1)), ("h", (9, 18))):
                found, written = numpy.full(shape, numpy.nan, "f4"), numpy.zeros(shape, int)
                for path in self.folder.glob(f"{result}-*.part"):
                    r0, r1, c0, c1 = map(int, re.findall(r"\d+", path.name))
                    found[r0:r1, c0:c1] = numpy.fromfile(path, "f4").reshape(r1 - r0, c1 - c0)
                    written[r0:r1, c0:c1] += 1
                    path.unlink()
                self.assertTrue((written == 1).all(), (ranks, result, written))
                self.assertEqual(found.tobytes(), numpy.load(self.folder / f"one/{result}.npy").tobytes(), (ranks, result))
        done = self.launch(4, "./user")
        self.assertEqual(done.stdout.count("4: the program was compiled for MPI jobs of 2, 3 processes, and this job has 4"), 4, done.stdout)
        # MPI_THREAD_SINGLE: enough for one thread, not for two.
        done = self.launch(2, "./user", "0", "2")
        self.assertEqual(done.stdout.count("7: MPI was started for one thread: call MPI_Init_thread with MPI_THREAD_FUNNELED"), 2, done.stdout)
        done = self.launch(2, "./user", "0", "1")
        self.assertEqual(done.stdout, "number 42\n", done.stderr)

    def test_errors(self):
        self.compiled(DIVIDE, "2,4")
        self.shim()
        a, b = numpy.arange(8, dtype="i4"), numpy.array([1, 2, 3, 4, 5, 6, 0, 8], "i4")
        given = self.save_inputs({"a": a, "b": b, "bad": a[:7], "f": a.astype("f4")})
        def failed(ranks, code, pattern, *words):
            (self.folder / "c.npy").write_text("an earlier file")
            done = self.launch(ranks, "./p", *words, "-o", "c=@c.npy")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stderr, "(?m)" + pattern)
            self.assertEqual(len(re.findall(r"\./p: ", done.stderr)), 1, done.stderr)
            self.assertEqual((self.folder / "c.npy").read_text(), "an earlier file")
            self.assertEqual([p.name for p in self.folder.glob("c.npy*")], ["c.npy"])
        both = ["-i", "a=@a.npy", "-i", "b=@b.npy"]
        failed(2, 6, r"process 1 of the job: ./p: division by zero in `c` at i=6", *both)
        failed(4, 6, r"process 3 of the job: ./p: division by zero in `c` at i=6", *both)
        # D11: one message, from all processes the same.
        failed(3, 2, r"^./p: the program was compiled for MPI jobs of 2, 4 processes, and this job has 3", *both)
        failed(2, 2, r"^./p: the input b is missing", "-i", "a=@a.npy")
        failed(2, 2, r"^./p: --timeout x: expected seconds", *both, "--timeout", "x")
        for words, code, pattern in ((["-i", "a=@a.npy", "-i", "b=@bad.npy"], 3, r"process [01] of the job: ./p: `bad.npy` has the wrong shape"),
                                     (["-i", "a=@a.npy", "-i", "b=@f.npy"], 3, r"process [01] of the job: ./p: `f.npy` has type <f4, expected <i4"),
                                     (["-i", "a=@a.npy", "-i", "b=@none.npy"], 3, r"process [01] of the job: ./p: none.npy cannot be read: No such file")):
            done = self.launch(2, "./p", *words, "-o", "c=@c.npy")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stderr, pattern)
        (self.folder / "short.npy").write_bytes((self.folder / "b.npy").read_bytes()[:-1])
        done = self.launch(2, "./p", "-i", "a=@a.npy", "-i", "b=@short.npy", "-o", "c=@c.npy")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "`short.npy` has too few cells")
        numpy.save(self.folder / "b.npy", a + 1)
        done = self.launch(2, "./p", *both, "-o", "c=@none/c.npy")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, "process 0 of the job: ./p: none/c.npy cannot be written: No such file or directory")
        # Another program in one process.
        self.compiled(DIVIDE.replace("a[i] / b[i]", "a[i] / b[i] + a[i]"), "2,4", name="other")
        done = self.launch(1, "./p", *both, "-o", "c=@c.npy", ":", "-n", "1", "./other", *both, "-o", "c=@c.npy")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "process 1 of the job runs another program than process 0")
        # Without --mpi at compile time, each process would do all of the work.
        self.expect(0, "^$", "compile", "p.tap", "-o", "q.so", "--emit=exe")
        done = self.launch(2, "./q", *both, "-o", "c=@c.npy")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^./q: the program was not compiled for MPI jobs: compile it with --mpi")
        (self.folder / f"libtapc_mpi_{os.environ.get('TAP_MPI', 'openmpi')}.so").unlink()
        done = self.launch(2, "./p", *both, "-o", "c=@c.npy")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^./p: `libtapc_mpi_\w+.so` is missing: it is looked for beside the program")
        self.expect(2, "--mpi", "compile", "p.tap", "-o", "q.so", "--mpi", "1")
        self.expect(2, "--mpi", "compile", "p.tap", "-o", "q.so", "--mpi", "2,x")

    def test_the_shim_is_found_where_libraries_are(self):
        self.compiled(DIVIDE, "2")
        given = self.save_inputs({"a": numpy.arange(8, dtype="i4"), "b": numpy.ones(8, "i4")})
        (self.folder / "bin").mkdir()
        shutil.move(self.folder / "p", self.folder / "bin/p")
        for folder, environment in (("elsewhere", {"LD_LIBRARY_PATH": str(self.folder / "elsewhere")}), ("lib/tapestry", {})):
            (self.folder / folder).mkdir(parents=True)
            self.shim(folder)
            done = self.launch(2, "bin/p", *given, "-o", "c=@c.npy", environment=environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            shutil.rmtree(self.folder / folder)

    def test_a_process_that_dies_or_hangs_ends_the_job(self):
        self.compiled(MANY_TRIPS, "3")
        self.shim()
        given = self.save_inputs({"x": numpy.ones(400, "f4")})
        for kill, pattern in ((signal.SIGKILL, r"\./p: process 1 of the job was ended by signal 9 \(Killed\) while it (computed|exchanged)"),
                              (signal.SIGSTOP, r"\./p: process 1 of the job made no progress for 2 s")):
            (self.folder / "y.npy").write_text("an earlier file")
            process = self.start(3, "./p", *given, "-o", "y=@y.npy", "--timeout", "2")
            child = self.computing_child(1)
            began = time.monotonic()
            os.kill(child, kill)
            out, err = process.communicate(timeout=30)
            self.assertLess(time.monotonic() - began, 9)
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(err, pattern)
            self.assertEqual(processes_in(self.folder), [])
            self.assertEqual((self.folder / "y.npy").read_text(), "an earlier file")

    def computing_child(self, rank):
        """The process of this rank that computes: the child of the one that waits for it."""
        for _ in range(200):
            time.sleep(0.05)
            found = []
            for pid, parent in processes_in(self.folder):
                with contextlib.suppress(OSError):
                    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                    names = (f"OMPI_COMM_WORLD_RANK={rank}".encode(), f"PMI_RANK={rank}".encode())
                    if any(name in environment for name in names):
                        found.append((pid, parent))
            pids = [pid for pid, _ in found]
            children = [pid for pid, parent in found if parent in pids]
            if children:
                time.sleep(1)  # it computes for longer
                return children[0]
        self.fail("no process computes")


if __name__ == "__main__":
    unittest.main()
