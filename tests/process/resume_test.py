#!/usr/bin/python3
"""tapc run --keep and --resume: an interrupted run goes on, to the same bits. resume_test.py TAPC [--kills N] [--seed N]"""
import contextlib
import random
import re
import time
from pathlib import Path

from mpi_job import *
from tapc import *

KILLS, SEED = option("--kills", 6), option("--seed", 1)
# Shards, partials, a value that is interleaved from two, and an iterate with halos.
PROGRAM_TEXT = """mesh pod = [data: 2, model: 3]
program main(X: f32[80, 120] @ pod[{data}, {}], W: f32[120, 180] @ pod[{}, {model}], V: f32[180, 50] @ pod[{model}, {}], n: f32[80, 7] @ pod[{data}, {}])
        -> (Y: f32[80, 50], s: f32[], u: f32[80, 7], z: f32[160]) {
    h[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = sum[k] exp(h[i, k] / 64) * V[k, o]
    s[] = sum[i, o] Y[i, o]
    u = iterate 40 (v = n) { w[i, j] = (v[i - 1, j else 0] + v[i, j] * 2 + v[i + 1, j else 1]) / 4; w }
    z[2*i] = h[i, 0] + u[i, 0]
    z[2*i + 1] = Y[i, 0]
}
"""
# Takes its time for every kept result, so that kills hit all parts of a run.
SLOW_KEEPING = r"""
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int renameat(int a, const char* from, int b, const char* to) {
  usleep(8000);
  return syscall(SYS_renameat2, a, from, b, to, 0);
}
"""
WORDS = ["run", "p.tap", *(word for name, seed in zip("XWVn", range(1, 5)) for word in ("-i", f"{name}=rand:{seed}"))]


class Resume(MpiTest):
    def setUp(self):
        super().setUp()
        self.write("p.tap", PROGRAM_TEXT)
        self.expect(0, ".*", *WORDS, "-o", "@undisturbed.safetensors")

    def tapc(self, *arguments, environment=None, **others):
        """Of one build: results are kept for the build of tapc, and tapc_forks (tests/forks) is another one. A variable of the
        loader starts tapc itself."""
        return super().tapc(*arguments, environment={"LD_BIND_NOT": "", **(environment or {})}, **others)

    def run_on(self, ranks, *words, code=0):
        """The run's messages. `ranks`: 0 for one process without MPI."""
        words = [*WORDS, "-o", "@y.safetensors", *words]
        result = self.job(ranks, *words, "--mpi") if ranks else self.tapc(*words)
        output = result.stderr if ranks else result.output
        self.assertEqual(result.returncode, code, output)
        if code == 0:
            self.assertEqual((self.folder / "y.safetensors").read_bytes() == (self.folder / "undisturbed.safetensors").read_bytes(), True)
            (self.folder / "y.safetensors").unlink()
        return output

    def resumed(self, output):
        """How many results were kept, and how many were computed."""
        self.assertRegex(output, r"resumed: \d+ kept results?, \d+ computed")
        return tuple(map(int, re.search(r"resumed: (\d+) kept results?, (\d+) computed", output).groups()))

    def kept(self):
        return sorted((self.folder / "kept").glob("*.shard"))

    def test_h03_only_what_is_missing_is_computed(self):
        for ranks in (0, 1, 3):
            self.run_on(ranks, "--keep", "kept")
            had, computed = self.resumed(self.run_on(ranks, "--keep", "kept", "--resume"))
            self.assertGreater(had, 6 * 3)
            self.assertEqual(computed, 0)
            self.assertLess(had, len(self.kept()))  # of an iterate only the last states are needed
            chosen = random.Random(ranks)
            for count in (1, 5, had // 2):
                removed = chosen.sample(self.kept(), count)
                for path in removed:
                    path.unlink()
                before = {path: path.stat().st_ino for path in self.kept()}
                again, computed = self.resumed(self.run_on(ranks, "--keep", "kept", "--resume"))
                self.assertGreaterEqual(again, had - count)
                rewritten = [path for path, number in before.items() if path.stat().st_ino != number]
                if ranks < 2:  # other processes may have kept later trips
                    self.assertEqual(rewritten, [])
                    self.assertLessEqual(computed, count)
                self.run_on(ranks, "--keep", "kept")
            for path in self.kept():
                path.unlink()

    def test_h03_an_iterate_continues(self):
        self.write("p.tap", "mesh pod = [x: 2]\nprogram main(n: f32[9, 7] @ pod[{x}, {}]) -> (u: f32[9, 7]) {\n"
                            "    u = iterate 100 (v = n) { w[i, j] = (v[i - 1, j else 0] + v[i, j] * 2 + v[i + 1, j else 0]) / 4; w }\n}\n")
        self.slow_keeping()
        words = ["run", "p.tap", "-i", "n=rand:1"]
        self.expect(0, ".*", *words, "-o", "u=@u.npy")
        for ranks in (0, 2):
            def go(*more, slow=None):
                arguments = [*words, "-o", "u=@v.npy", "--keep", "kept", *more]
                result = self.job(ranks, *arguments, "--mpi", environment=slow) if ranks else self.tapc(*arguments, environment=slow)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual((self.folder / "u.npy").read_bytes(), (self.folder / "v.npy").read_bytes())
                return result.stderr if ranks else result.output

            go(slow={"LD_PRELOAD": str(self.folder / "slow.so")})  # so that the times of files tell their order
            trips = self.kept()
            self.assertEqual(len(trips), 15 * max(ranks, 1))  # after 7, 14, … 98 and 100 trips
            self.assertIn("continued after trip 100 of 100", go("--resume"))
            trips.sort(key=lambda path: path.stat().st_mtime_ns)
            for count in (1, 3):
                for path in trips[-count:]:  # of one process more than of the other
                    path.unlink()
                self.assertIn(f"continued after trip {[0, 98, 0, 84][count] if not ranks else [0, 98, 0, 91][count]} of 100", go("--resume"))
                self.assertEqual(sorted(trips), self.kept())
            for path in self.kept():
                path.unlink()
            self.assertNotIn("continued", go("--resume"))
            for path in self.kept():
                path.unlink()

    def spoil(self, path, how, other):
        data = path.read_bytes()
        if how == "truncated":
            path.write_bytes(data[:len(data) // 2])
        elif how == "longer":
            path.write_bytes(data + b"\0")
        elif how == "empty":
            path.write_bytes(b"")
        elif how == "flipped":
            at = random.Random(1).randrange(150, len(data))
            path.write_bytes(data[:at] + bytes([data[at] ^ 16]) + data[at + 1:])
        elif how == "head":
            path.write_bytes(b"x" + data[1:])
        elif how == "of another plan":
            path.write_bytes(other)
        elif how == "a link":
            path.rename(self.folder / "elsewhere")
            path.symlink_to(self.folder / "elsewhere")
        elif how == "writable":
            path.chmod(0o666)
        else:
            path.unlink()
            path.mkdir()

    def test_h04_damaged_results(self):
        problems = {"truncated": "it is truncated, or of another size", "longer": "it is truncated, or of another size",
                    "empty": "it is truncated, or of another size", "flipped": "its content was changed",
                    "head": "it is the result of another run", "of another plan": "it is the result of another run",
                    "a link": "it is a symbolic link", "writable": "others can write to it", "a folder": "it is not a regular file"}
        for ranks in (0, 3):
            self.run_on(ranks, "--keep", "kept")
            had, _ = self.resumed(self.run_on(ranks, "--keep", "kept", "--resume"))
            same_size = [path for path in self.kept() if path.stat().st_size == 143 + 4 * 40 * 50]  # of `Y`, before partials are combined
            self.assertGreater(len(same_size), 1)
            other = same_size[1].read_bytes()
            for how, problem in problems.items():
                self.spoil(same_size[0], how, other)
                output = self.run_on(ranks, "--keep", "kept", "--resume")
                self.assertRegex(output, rf"warning\[T1205\]: `kept/[0-9a-f]{{64}}\.shard` is not used: {problem}; the result is computed again")
                self.assertEqual(output.count("T1205"), 1 if how != "a folder" else 2)
                self.assertEqual(self.resumed(output), (had - 1, 1), how)
                if how == "a folder":
                    self.assertIn("are not all kept in `kept`: Is a directory", output)
                    same_size[0].rmdir()
                    self.run_on(ranks, "--keep", "kept", "--resume")
                self.assertEqual(self.resumed(self.run_on(ranks, "--keep", "kept", "--resume")), (had, 0), how)
            for path in self.kept():
                path.unlink()

    def test_h04_another_plan_program_or_input(self):
        self.run_on(0, "--keep", "kept")
        files = self.kept()
        had, _ = self.resumed(self.run_on(0, "--keep", "kept", "--resume"))
        nothing = r"resumed: 0 kept results, \d+ computed\ntapc: warning\[T1205\]: `kept` has no result of this run\n(help|.*)"
        changes = {"input": WORDS[:-1] + ["n=rand:5"], "plan": [*WORDS, "--plan", "p.plan"], "order": [*WORDS, "--strict-fp"]}
        self.write("p.plan", "plan 2\nmesh pod = [data: 3, model: 2]\n")
        for what, words in changes.items():
            if what == "plan":
                self.write("p.tap", PROGRAM_TEXT.replace("data: 2, model: 3", "data: 3, model: 2"))
                words = WORDS
            self.expect(0, nothing, *words, "-o", "@z.safetensors", "--keep", "kept", "--resume")
            self.write("p.tap", PROGRAM_TEXT)
        self.assertLess(set(files), set(self.kept()))  # each run has results of its own
        self.assertEqual(self.resumed(self.run_on(0, "--keep", "kept", "--resume")), (had, 0))
        self.assertIn("has no result of this run", self.run_on(3, "--keep", "kept", "--resume"))
        self.assertIn("has no result of this run", self.run_on(2, "--keep", "kept", "--resume"))

    def test_an_input_of_one_process_changes(self):
        """The other process's own input is the same, and its result yet another."""
        self.write("p.tap", "mesh pod = [x: 2]\nprogram main(X: f32[8] @ pod[{x}]) -> (s: f32[]) {\n    y[i] = X[i] * 2\n    s[] = sum[i] y[i]\n}\n")
        for values in ("[1, 2, 3, 4, 5, 6, 7, 8]", "[1, 2, 3, 4, 5, 6, 7, 9]"):
            result = self.job(2, "run", "p.tap", "-i", f"X={values}", "-o", "s=-", "--mpi", "--keep", "kept", "--resume")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(str(2.0 * sum(eval(values))), result.stdout)

    def test_processes_with_other_options(self):
        words = [TAPC, *WORDS, "-o", "@y.safetensors", "--mpi"]
        self.run_on(2, "--keep", "kept")
        for first, second in ((["--keep", "kept"], []), (["--keep", "kept"], ["--keep", "kept", "--resume"])):
            result = self.job(1, "--wdir", self.folder, *words, *first, ":", "-n", "1", *words, *second)
            self.assertEqual(result.returncode, 6, result.stderr)
            self.assertIn("map of devices or --keep than process", result.stderr)

    def test_folders_that_cannot_be_used(self):
        (self.folder / "open").mkdir()
        (self.folder / "open").chmod(0o777)
        self.write("file", "")
        self.expect(4, r"results cannot be kept in `open`: others can write to it(.|\n)*chmod 700", *WORDS, "--keep", "open")
        self.expect(4, "results cannot be kept in `file`: Not a directory", *WORDS, "--keep", "file")
        self.expect(4, "results cannot be kept in `file/kept`: Not a directory", *WORDS, "--keep", "file/kept")
        self.expect(2, "--resume requires --keep", *WORDS, "--resume")
        self.expect(2, "`--keep` and `--memory` need a program that runs as native code", *WORDS, "--keep", "kept", "--engine", "interp")
        self.assertFalse((self.folder / "kept").exists())
        self.run_on(0, "--keep", "a/b/kept")
        self.assertEqual((self.folder / "a/b/kept").stat().st_mode & 0o777, 0o700)

    def test_a_full_disk_does_not_stop_the_run(self):
        output = self.tapc(*WORDS, "-o", "s=-", "--keep", "kept", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))).output
        self.assertRegex(output, r"warning\[T1205\]: results of this run are not all kept in `kept`: File too large")
        self.assertNoTemporaries()

    def test_with_metrics(self):
        self.run_on(0, "--keep", "kept", "--trace", "t.json", "--metrics", "m.json", "--slowest", "3")
        for more in ([], ["--trace", "t.json", "--metrics", "m.json", "--slowest", "3"], ["--threads", "1"], ["--threads", "3"]):
            self.assertEqual(self.resumed(self.run_on(0, "--keep", "kept", "--resume", *more))[1], 0, more)
        self.run_on(3, "--keep", "kept", "--trace", "t.json")
        self.run_on(3, "--keep", "kept", "--resume", "--trace", "t.json", "--metrics", "m.json")

    def test_outside_kernels(self):
        self.write("k.c", "#include <stdint.h>\n#include <stdio.h>\nstruct region { void* data; const int64_t *extents, *strides; };\n"
                          "void copied(const int64_t* box, const int64_t* extents, const struct region* r) {\n    (void)extents;\n"
                          "    for (int64_t i = box[0]; i < box[1]; ++i)\n"
                          "        ((float*)r[1].data)[(i - box[0]) * r[1].strides[0]] = ADDED + ((float*)r[0].data)[(i - box[0]) * r[0].strides[0]];\n"
                          "    fprintf(stderr, \"called\\n\");\n}\n")
        self.write("p.tap", "extern op copied(x: f32[n]) -> (y: f32[n]) {\n"
                            "    index [i: n] read x at [i] shape [1] write y at [i] shape [1] kernel \"copied\" }\n"
                            "mesh pod = [x: 2]\nprogram main(X: f32[8] @ pod[{x}]) -> (Z: f32[8]) {\n    Y = copied(X)\n    Z[i] = Y[i] + Y[7 - i]\n}\n")
        words = ["run", "p.tap", "-i", "X=iota", "--kernels", self.folder / "k.so", "-o", "Z=-", "--keep", "kept", "--resume"]
        for added in (0, 1):
            subprocess.run(["cc", "-shared", "-fPIC", f"-DADDED={added}", "-o", self.folder / "k.so", self.folder / "k.c"], check=True)
            first = self.expect(0, "called\ncalled\n", *words)
            again = self.expect(0, r"\Aresumed: 4 kept results, 0 computed", *words)  # the kernel is not called
            self.assertEqual(first.stdout, again.stdout)
            self.assertIn(str(7.0 + 2 * added).encode(), first.stdout)

    def kill_once(self, ranks, chosen):
        """SIGKILL at a random moment; one process of a job, or the only one. Whether it came before the end."""
        command = [TAPC, *WORDS, "-o", "@y.safetensors", "--keep", "kept", "--resume", "--threads", str(chosen.choice((1, 2)))]
        if ranks:
            command = [MPIRUN, "-n", str(ranks), *command, "--mpi"]
        environment = self.environment({"LD_PRELOAD": str(self.folder / "slow.so")})
        job = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
        end = time.monotonic() + 20
        while len(self.processes()) < max(1, 2 * ranks) and job.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(chosen.uniform(0, 0.5))
        processes = self.processes()
        running = job.poll() is None and bool(processes)
        if running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chosen.choice(processes), signal.SIGKILL)
        try:
            job.wait(10)
        except subprocess.TimeoutExpired:  # a fault of this mpirun: it sometimes does not notice that all its processes have ended
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        end = time.monotonic() + 10
        while self.processes() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(self.processes(), [])
        return running

    def processes(self):
        """Of tapc in this test's folder."""
        found = []
        for pid, _ in processes_in(self.folder):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/exe").readlink() == TAPC:
                    found.append(pid)
        return found

    def slow_keeping(self):
        self.write("slow.c", SLOW_KEEPING)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "slow.so", self.folder / "slow.c"], check=True)

    def test_random_kills(self):
        self.slow_keeping()
        chosen = random.Random(SEED)
        for ranks in (0, 3):
            used = hits = 0
            for kill in range(KILLS):
                hits += self.kill_once(ranks, chosen)
                left = self.kept()
                had, computed = self.resumed(self.run_on(ranks, "--keep", "kept", "--resume"))  # to the same bytes
                used += had > 0 and computed > 0
                self.assertGreaterEqual(had, 0 if not left else 1)
                for path in self.kept():
                    path.unlink()
            print(f"seed {SEED}, {ranks or 1} process(es): {hits} of {KILLS} kills while it ran, after {used} of which it went on")
            self.assertGreater(hits, 0)
        self.assertNoTemporaries()


if __name__ == "__main__":
    unittest.main()
