#!/usr/bin/python3
"""G01, G02, G05, G13, G14: command lines, output places, signals, odd environments. Nothing is lost, and no message is a riddle."""
import time

import numpy as np

from tapc import *

SUM = "program main(X: f32[4]) -> (Y: f32[4], Z: f32[4]) { Y[i] = 2.5 * X[i]\n Z[i] = X[i] + 1 }\n"
SLOW = "program main(X: f64[n, n]) -> (Y: f64[n, n]) { Y[i, j] = sum[k] X[i, k] * X[k, j] }\ndim n = 600\n"


class Environment(TapcTest):
    def run_sum(self, *arguments, **options):
        self.write("a.tap", SUM)
        return self.tapc("run", "a.tap", "-i", "X=iota", *arguments, **options)

    def test_g01_wrong_command_lines_write_nothing(self):
        self.write("a.tap", SUM)
        self.write("y.npy", "old")
        for extra in (["--shards=abc"], ["-n", "-1"], ["--threads", "abc"], ["--threads", "0"],
                      ["--threads", "99999999999999999999"],
                      ["--rtol", "-1"], ["--engine", "gpu"], ["--dim"], ["--dim", "n"], ["--dim", "n=1.5"],
                      ["second.tap"], ["-o"]):
            with self.subTest(extra):
                result = self.expect(2, r"error\[T\d{4}\]", "run", "a.tap", "-i", "X=iota", "-o", "Y=@y.npy", *extra)
                self.assertEqual(sorted(p.name for p in self.files()), ["a.tap", "y.npy"])
                self.assertEqual((self.folder / "y.npy").read_text(), "old")
                self.assertLess(result.output.count("\n"), 6)

    def test_help_of_everything(self):
        listed = self.tapc("--help").stdout.decode()
        for command in ("check", "run", "inspect", "ops", "explain", "new", "completion"):
            self.assertIn(f"  {command} ", listed)
            self.assertIn("Usage: tapc " + command, self.tapc(command, "--help").stdout.decode())
        self.assertRegex(self.tapc("--version").stdout.decode(), r"^tapc \d+\.\d+\.\d+ \(language version 1\)(, commit [0-9a-f]{12})?, LLVM \d+\.\d+\.\d+\n$")

    def test_g02_output_places(self):
        self.write("file", "x")
        self.write("y.npy", "old")
        for path in ("missing/y.npy", "file/y.npy", "n" * 300 + ".npy", "/proc/y.npy"):
            with self.subTest(path[:20]):
                result = self.run_sum("-o", "Y=@y.npy", "-o", "Z=@" + path)
                self.assertEqual(result.returncode, 4, result.output)
                self.assertRegex(result.output,
                                 r"error\[T1201\]: .*(No such file|Not a directory|File name too long|denied)")
                self.assertEqual((self.folder / "y.npy").read_text(), "old")
                self.assertNoTemporaries()

    def test_g02_a_folder_as_output(self):
        (self.folder / "d.npy").mkdir()
        self.assertEqual(self.run_sum("-o", "Y=@d.npy").returncode, 4)
        self.assertNoTemporaries()

    def test_g02_disk_full_at_the_third_of_five(self):
        """A limit on the size of files stands for a full disk or a quota: write() fails in the middle of one output."""
        self.write("many.tap",
                   "program main(X: f32[n]) -> ("
                   + ", ".join(f"Y{k}: f32[{'2 * n' if k == 2 else '4'}]" for k in range(5)) + ") {\n"
                   + "".join(f"  Y{k}[i] = {'X[0] for i in 0..2 * n' if k == 2 else 'X[i] for i in 0..4'}\n"
                             for k in range(5)) + "}\n")
        names = [f"y{k}.npy" for k in range(5)]
        outputs = [word for k in range(5) for word in ("-o", f"Y{k}=@y{k}.npy")]
        for old in (None, "old"):
            with self.subTest(old):
                for name in names[:4] if old else []:
                    self.write(name, old)
                result = self.tapc("run", "many.tap", "--dim", "n=8192", "-i", "X=iota", *outputs,
                                   before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
                self.assertEqual(result.returncode, 4, result.output)
                self.assertRegex(result.output, r"error\[T1201\]: `y2.npy` cannot be written: File too large")
                self.assertEqual({n: (self.folder / n).read_text() for n in names if (self.folder / n).exists()},
                                 {n: old for n in names[:4]} if old else {})
                self.assertNoTemporaries()

    def test_standard_output_full_or_closed(self):
        with open("/dev/full", "w") as full:
            result = self.run_sum(stdout=full)
        self.assertEqual(result.returncode, 4)
        self.assertIn("standard output cannot be written: No space left on device", result.output)
        result = self.run_sum(stdout=None, before=lambda: os.close(1))
        self.assertEqual(result.returncode, 4, result.output)

    def test_g13_closed_descriptors_do_not_harm_files(self):
        closings = {"in": [0], "out": [1], "err": [2], "all": [0, 1, 2]}
        for name, which in closings.items():
            with self.subTest(name):
                options = {key: None for key, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)) if number in which}
                self.write("a.tap", SUM)
                result = self.tapc("run", "a.tap", "-i", "X=iota", "-o", "Y=@y.npy",
                                   before=lambda: [os.close(d) for d in which], **options)
                self.assertEqual(result.returncode, 0, result.output)
                self.assertTrue((self.folder / "y.npy").read_bytes().startswith(b"\x93NUMPY"))
                (self.folder / "y.npy").unlink()

    def test_g13_numbers_do_not_depend_on_the_locale(self):
        expected = self.run_sum().stdout
        self.assertIn(b"2.5", expected)
        for locale in ("de_DE.UTF-8", "tr_TR.UTF-8", "nonsense", ""):
            self.assertEqual(self.run_sum(environment={"LC_ALL": locale, "LANG": locale}).stdout, expected)

    def test_g13_environment(self):
        for environment in ({"TMPDIR": "/missing"}, {"TMPDIR": "/dev/full"}, {"HOME": ""}, {"PATH": ""}):
            self.assertEqual(self.run_sum(environment=environment).returncode, 0)

    def test_g13_limits(self):
        def few_files():
            resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))

        def no_rights():
            os.umask(0o777)

        self.assertEqual(self.run_sum(before=few_files).returncode, 0)
        self.assertIn(self.run_sum("-o", "Y=@y.npy", before=no_rights).returncode, (0, 4))
        for engine in ("interp", "native"):
            self.assertIn(self.run_sum("--engine", engine, memory=GIB // 2).returncode, (0, 4))

    def test_out_of_memory_is_reported(self):
        self.write("big.tap", "program main(X: f64[n]) -> (Y: f64[n]) { Y[i] = X[i] }\n")
        self.expect(4, r"error\[T1202\]", "run", "big.tap", "--dim", "n=400000000", "-i", "X=zeros", memory=2 * GIB)

    def test_g14_closed_pipe(self):
        self.write("a.tap", SUM)
        for ignored in (False, True):
            def before():
                signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)

            read, write = os.pipe()
            os.close(read)
            result = self.tapc("ops", stdout=write, before=before, restore_signals=False)
            os.close(write)
            self.assertEqual(result.returncode, 4 if ignored else 128 + signal.SIGPIPE, result.output)
            self.assertLessEqual(result.output.count("\n"), 1)

    def test_g14_a_closed_pipe_leaves_complete_outputs(self):
        read, write = os.pipe()
        os.close(read)
        before = lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        result = self.run_sum("-o", "Y=@y.npy", "-o", "Z=-", stdout=write, before=before, restore_signals=False)
        os.close(write)
        self.assertEqual(result.returncode, 128 + signal.SIGPIPE, result.output)
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), np.array([0, 2.5, 5, 7.5], np.float32))
        self.assertNoTemporaries()

    def test_colour_on_request_only(self):
        self.write("bad.tap", "op f(x: f32[n]) -> (y: f32[n]) { y[i] = z[i] }\n")
        self.assertNotIn("\x1b", self.tapc("check", "bad.tap").output)
        self.assertIn("\x1b", self.tapc("check", "--color=always", "bad.tap").output)
        for environment, expected in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                                    ({"TERM": "dumb"}, False)):
            master, slave = os.openpty()
            self.tapc("check", "bad.tap", stderr=slave, environment=environment)
            self.assertEqual(b"\x1b" in os.read(master, 10000), expected, environment)
            os.close(master)
            os.close(slave)

    def test_g05_signals(self):
        self.write("slow.tap", SLOW)
        self.write("y.npy", "old")
        for number in (signal.SIGINT, signal.SIGTERM):
            for delay in (0.01, 0.03, 0.1, 0.3):
                process = subprocess.Popen([TAPC, "run", "slow.tap", "--engine", "interp", "-i", "X=rand:1", "-o",
                                            "Y=@y.npy"], cwd=self.folder,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                time.sleep(delay)
                process.send_signal(number)
                begin = time.monotonic()
                process.communicate(timeout=10)
                self.assertLess(time.monotonic() - begin, 2)
                self.assertIn(process.returncode, (128 + number, -number))  # the latter: before main
                self.assertEqual((self.folder / "y.npy").read_text(), "old")
                self.assertNoTemporaries()

    def test_a_bus_error_with_mapped_inputs_is_our_bug(self):
        """Mapped inputs have a SIGBUS handler of their own, which must leave other bus errors to the one that reports them."""
        self.write("slow.tap", SLOW)
        np.save(self.folder / "x.npy", np.zeros((600, 600)))
        process = subprocess.Popen([TAPC, "run", "slow.tap", "--engine", "interp", "-i", "X=@x.npy"], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "TMPDIR": str(self.folder)})
        time.sleep(0.5)
        process.send_signal(signal.SIGBUS)
        output = process.communicate(timeout=10)[1].decode()
        self.assertEqual(process.returncode, 70, output)
        self.assertRegex(output, r"^tapc: internal error in .*: bus error; reproducer written to ")

    def test_g08_the_same_message_every_time(self):
        self.write("bad.tap",
                   "".join(f"op f{k}(x: f32[n]) -> (y: f32[n]) {{ y[i] = z{k}[i + 1] }}\n" for k in range(9)))
        output = {self.tapc("check", "bad.tap").output for _ in range(5)}
        self.assertEqual(len(output), 1)

    def test_no_path_of_the_build_machine(self):
        stripped = self.folder / "tapc"  # debug information may name sources; what is shipped and shown may not
        subprocess.run(["strip", "-o", stripped, TAPC], check=True)
        self.assertNotIn(str(ROOT / "compiler").encode(), stripped.read_bytes())


if __name__ == "__main__":
    unittest.main()
