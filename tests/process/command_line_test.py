#!/usr/bin/python3
"""The command line as a whole: what --help lists is documented and completed; shapes without data; stages instead of sources."""
import re

import numpy as np

from tapc import *

OPEN = "program p(X: f32[d.., n], W: f32[n]) -> (Y: f32[d..]) { Y[i..] = sum[k] X[i.., k] * W[k] }\n"


class Options(TapcTest):
    def commands(self):
        listed = self.tapc("--help").stdout.decode().split("SUBCOMMANDS:"
                                                           if b"SUBCOMMANDS:" in self.tapc("--help").stdout
                                                           else "Subcommands:")[1]
        names = re.findall(r"(?m)^  (\w+)", listed)
        self.assertGreaterEqual(len(names), 10)
        return names

    def options(self, command):
        """Every option that --help lists: {'--input', '-i', …}."""
        found = set()
        for names in re.findall(r"(?m)^  (-[\w,-]+)", self.tapc(command, "--help").stdout.decode()):
            found.update(names.split(","))
        self.assertIn("--help", found)
        return found

    def test_the_page_is_complete(self):
        page = (ROOT / "docs/reference/commands.md").read_text()
        for command in self.commands():
            self.assertRegex(page, rf"(?m)^## `tapc {command}\b")
            for option in self.options(command):
                if option.startswith("--"):
                    self.assertRegex(page, rf"{option}(?![\w-])", f"{option} of tapc {command}")
        self.assertIn("tapc-check", page)

    def test_the_table_of_commands_is_complete(self):
        page = (ROOT / "docs/reference/commands.md").read_text()
        table = page.split("| command | what it does |\n")[1].split("\n\n")[0]
        self.assertEqual(set(re.findall(r"(?m)^\| \[`([\w-]+)`\]\(#", table)), {*self.commands(), "tapc-check"})

    def complete(self, *words):
        script = self.tapc("completion", "bash").stdout.decode()
        line = " ".join(f"'{word}'" for word in ("tapc", *words))
        script += f'\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _tapc; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
        done = subprocess.run(["bash", "--norc", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              timeout=20)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_bash_completes_everything(self):
        self.assertEqual(self.complete(""), set(self.commands()))
        for command in self.commands():
            self.assertEqual(self.complete(command, "-"), self.options(command), command)
        self.assertEqual(self.complete("inspect", "--format", ""), {"text", "ir", "html", "json", "report-json", "dot", "svg", "graphml"})
        self.write("mlp.tap", "")
        self.assertEqual(self.complete("run", "ml"), {"mlp.tap"})

    def test_zsh_and_fish_complete_all_of_it(self):
        zsh = self.tapc("completion", "zsh").stdout.decode()
        fish = self.tapc("completion", "fish").stdout.decode()
        for command in self.commands():
            self.assertIn(f"-f -a {command} ", fish)
            lines = re.findall(rf"(?m)^complete -c tapc -n '__fish_seen_subcommand_from {command}'(.*)$", fish)
            offered = {"--" + name for line in lines for name in re.findall(r" -l ([\w-]+)", line)}
            offered |= {"-" + name for line in lines for name in re.findall(r" -s (\w)", line)}
            self.assertEqual(offered, self.options(command), command)
            arguments = re.search(rf"(?ms)^      {command}\) _arguments(.*?);;$", zsh)[1]
            self.assertEqual(set(re.findall(r"'\*(--?[\w-]+)", arguments)), self.options(command), command)


class Words(TapcTest):
    """An option takes as many words as it says; what follows is the file, or another option."""
    def test_options_before_the_file(self):
        self.write("p.tap", "program p(X: f32[n], _W: f32[4]) -> (Y: f32[n]) { Y[i] = X[i] }\n")
        expected = self.expect(0, "^$", "run", "p.tap", "-i", "X=[1, 2, 3, 4]", "-i", "_W=ones").stdout
        np.save(self.folder / "y.npy", np.float32([1, 2, 3, 4]))
        inputs = ["-i", "X=[1, 2, 3, 4]", "-i", "_W=ones"]
        self.assertEqual(self.expect(0, "^$", "run", *inputs, "p.tap", "--evaluations", "0").stdout, expected)
        self.assertEqual(self.expect(0, "^$", "run", *inputs, "--dim", "n=4", "p.tap", "--threads", "2").stdout, expected)
        self.expect(0, "^$", "run", *inputs, "--expect", "Y=@y.npy", "p.tap", "--threads=2")
        self.expect(0, "^$", "run", *inputs, "-o", "Y=@z.npy", "p.tap")
        self.expect(0, "^$", "check", "--dim", "n=4", "p.tap", "p.tap")
        self.expect(0, "^$", "opt", "--dim", "n=4", "--passes", "none", "p.tap", "-o", "p.ir")
        self.expect(0, "^$", "ops", "--dim", "in=3", "linear")

    def test_too_many_and_too_few(self):
        self.write("p.tap", OPEN)
        self.expect(2, "error.*: --plan is given twice", "run", "p.tap", "--plan", "a", "--plan", "b")
        self.expect(2, "error.*: --plan needs a value", "run", "p.tap", "--plan")
        self.expect(2, "error.*: --from needs 2 values", "sharding", "p.tap", "--from", "onnx-json")
        self.expect(2, "error.*: --from is given twice", "sharding", "p.tap", "--from", "a", "b", "--from", "c", "d")


class Shapes(TapcTest):
    def setUp(self):
        super().setUp()
        self.write("p.tap", OPEN)

    def test_a_run_is_summed_up(self):
        self.write("p.tap", "program p(X: f32[64, 64]) -> (Y: f32[64, 64]) { Y[i, j] = sum[k] X[i, k] * X[k, j] }\n")
        self.write("p.plan", "plan 2\nsplit Y dim i into 4 over threads\n")
        run = ["run", "p.tap", "-i", "X=rand:1", "-o", "Y=@y.npy"]
        self.expect(0, "^$", *run)
        self.expect(0, r"^ran in [0-9.e+]+ (µs|ms|s): 1 shard on \d+ threads?, [0-9.e+]+ GFLOP/s$", *run, "--summary")
        self.expect(0, r"^ran in .*: 4 shards on 2 threads, .* GFLOP/s$", *run, "--summary", "--plan", "p.plan", "--threads", "2")
        self.expect(0, r"^ran in .* on 1 thread, .* GFLOP/s$", *run, "--summary", "--engine", "interp")
        self.expect(0, "^$", "compile", "p.tap", "-o", "p.so")
        self.expect(0, r"^ran in .*: 1 shard on \d+ threads?, .* GFLOP/s$", "run", "p.json", "-i", "X=rand:1", "-o", "Y=@y.npy", "--summary")

    def test_commands_without_data_take_shapes(self):
        for command in ("check", "inspect", "verify", "opt"):
            with self.subTest(command):
                self.expect(1, r"error\[T0501\]: the pack `d\.\.` has no sizes", command, "p.tap")
                self.expect(0, "^$", command, "p.tap", "-i", "X=f32[4, 8]")
                self.expect(0, "^$", command, "p.tap", "-i", "X=f32[4, 8]=rand:1", "-i", "W=f32[8]", "--dim", "n=8")
        self.assertIn("value 0 X f32[4, 8]", self.tapc("inspect", "--format=ir", "p.tap", "-i", "X=f32[4,8]").stdout.decode())
        np.save(self.folder / "x.npy", np.zeros((2, 3), "f4"))
        self.assertIn("value 0 X f32[2, 3]", self.tapc("inspect", "--format=ir", "p.tap", "-i", "X=@x.npy").stdout.decode())

    def test_shapes_that_do_not_fit(self):
        for command in ("check", "inspect", "verify", "opt"):
            with self.subTest(command):
                self.expect(3, r"error\[T1102\]: the input `X` is declared as f32\[4, 8\], but `-i X=f64\[4,8\]` gives the element type f64",
                            command, "p.tap", "-i", "X=f64[4,8]")
                self.expect(3, r"error\[T1104\]: `V`.* is not an input", command, "p.tap", "-i", "X=f32[4,8]", "-i",
                            "V=f32[8]")
                self.expect(3, r"error\[T1103\]: input `W` has shape \[7\], so `n` would be 7; it is 8", command,
                            "p.tap", "-i", "X=f32[4,8]", "-i", "W=f32[7]")
                self.expect(2, r"error\[T1107\]", command, "p.tap", "-i", "X=f32[4,8")
        self.expect(2, r"error\[T1107\].*expected `=` and a value after the shape", "run", "p.tap", "-i", "X=f32[4,8]")

    def test_files_without_an_at_sign(self):
        for value in ("x.npy", "all.npz:X", "all.safetensors"):
            self.expect(2, rf"(?s)a file name needs an `@`.*help: write X=@{value}", "run", "p.tap", "-i",
                        f"X={value}")

    def test_types_of_files(self):
        np.save(self.folder / "x.npy", np.zeros((2, 3)))
        self.expect(3, r"(?s)p\.tap:1:\d+: error\[T1102\]: the input `X` is declared as f32\[2, 3\], but `x\.npy` contains f64\[2, 3\].*"
                       r"help: tapc does not convert types: give f32 values; in NumPy: x\.astype\('float32'\)", "run", "p.tap",
                    "-i", "X=@x.npy", "-i", "W=ones")
        for code in (b"|f4", b"|i8"):
            np.save(self.folder / "y.npy", np.zeros((2, 3), code[1:].decode()))
            data = (self.folder / "y.npy").read_bytes()
            self.write("y.npy", data.replace(b"<" + code[1:], code))
            self.expect(3, rf"error\[T1102\]: .*`\{code.decode()}`, which does not state a byte order", "run", "p.tap",
                        "-i", "X=@y.npy", "-i", "W=ones")

    def test_numbers_beyond_a_type(self):
        for type, number in (("f32", "1e39"), ("f32", "-3.5e38"), ("f16", "70000"), ("bf16", "3.4e38")):
            self.write("q.tap", f"program p(X: {type}[1]) -> (Y: {type}[1]) {{ Y[i] = X[i] }}\n")
            for value in (f"[{number}]", f"const:{number}"):
                with self.subTest(type=type, value=value):
                    self.expect(2, r"error\[T1107\]: .*which is beyond the range of", "run", "q.tap", "-i",
                                "X=" + value)
        self.write("q.tap", "program p(X: f32[2]) -> (Y: f32[2]) { Y[i] = X[i] }\n")
        result = self.expect(0, "^$", "run", "q.tap", "-i", "X=[inf, 3.4028234e38]", "-o", "Y=@y.npy")
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), np.float32([np.inf, 3.4028234e38]))


class Files(TapcTest):
    def test_a_stage_instead_of_a_source(self):
        self.write("p.tap", "mesh pod = [data: 2]\nprogram p(X: f32[4], W: f32[4]) -> (Y: f32[4], S: f32[]) { H[i] = X[i] * W[i]\n Y[i] = H[i] + H[3 - i]\n S[] = sum[i] Y[i] }\n")
        self.write("p.plan", "plan 2\nsplit Y dim i into 2 over pod.data\nsplit S dim i into 2 over threads\n")
        inputs = ["-i", "X=iota", "-i", "W=[1, 2, 3, 4]"]
        expected = self.tapc("run", "p.tap", *inputs).stdout
        self.assertIn(b"S: f32[] =", expected)
        for stage in ("graph", "sharded"):
            with self.subTest(stage):
                self.expect(0, "^$", "opt", "p.tap", "--plan", "p.plan", "--stage", stage, "-o", "p.ir")
                self.assertEqual(self.tapc("run", "p.ir", *inputs).stdout, expected)
                self.assertEqual(self.tapc("run", "p.ir", *inputs, "--engine", "interp").stdout, expected)
                self.assertEqual(self.tapc("opt", "p.ir", "--passes=none").stdout, (self.folder / "p.ir").read_bytes())
                self.assertEqual(self.tapc("inspect", "--format=ir", "p.ir").stdout, (self.folder / "p.ir").read_bytes())
                for command in ("verify", "check", "inspect"):
                    self.expect(0, "^$", command, "p.ir")
        self.assertIn(b"transfer", (self.folder / "p.ir").read_bytes())
        for command in ("fmt", "ops --file"):
            self.expect(2, r"(?s)error\[T0114\]: `p\.ir` is a stage text, not a Tap program.*`tapc opt`", *command.split(), "p.ir")
        self.expect(2, r"error\[T1001\]: `p\.ir` is a stage text, to which --dim does not apply", "run",
                    "p.ir", "--dim", "n=3", *inputs)
        self.write("p.ir", (self.folder / "p.ir").read_text().replace("graph 0 p", "graph zero p"))
        self.expect(1, r"p\.ir:\d+:7: error\[T0114\]", "run", "p.ir", *inputs)

    def test_block_stages_and_dumps(self):
        self.write("p.tap", "mesh pod = [data: 2]\nprogram p(X: f32[4]) -> (Y: f32[4]) { H[i] = sum[k] X[k] * X[i]\n Y[i] = H[3 - i] + sum[k] H[k] }\n")
        self.write("p.plan", "plan 2\nsplit H dim i into 2 over pod.data\nsplit Y dim i into 2 over pod.data\n")
        shown = self.tapc("opt", "p.tap", "--plan", "p.plan", "--stage", "block", "--dump-after=all",
                          "--dump-dir=d").stdout.decode()
        self.assertRegex(shown, r"(?m)^  apply .*// device 0: H\[0\.\.2\]@0 = H\(.*, on 2 devices$")
        self.assertRegex(shown, r"(?m)^  move ")
        dumped = {path.name[3:-4]: path for path in sorted((self.folder / "d").iterdir())}
        self.assertLessEqual({"inline_calls", "apply_splits", "realise", "expand"}, set(dumped))
        self.assertEqual(dumped["expand"].read_text(), shown)
        self.assertEqual(dumped["realise"].read_bytes(),
                         self.tapc("opt", "p.tap", "--plan", "p.plan", "--stage", "sharded").stdout)
        self.expect(2, r"(?s)unknown pass `realize`.*did you mean `realise`", "run", "p.tap",
                    "--dump-after=realize", "-i", "X=iota")

    def test_loops_of_native_kernels(self):
        if "native" not in self.tapc("run", "--help").stdout.decode():
            return
        self.write("p.tap", "program p(X: f32[4, 3]) -> (Y: f32[4]) { Y[i] = exp(sum[k] X[i, k]) }\n")
        shown = self.tapc("opt", "p.tap", "--stage", "loops").stdout.decode()
        self.assertRegex(shown, r"\Akernel \(\w+: f32\[4, 3\]\) -> \(\w+: f32\[4\]\) over \(i, k\)\n")
        self.assertRegex(shown, r"(?m)^ +\w+\[i\] = acc0$")
        self.assertRegex(shown, r"(?m)= exp\(\w+\[i\]\)$")

    def test_names_that_plans_can_use(self):
        self.write("p.tap", """use std
program p(X: f32[4, 6], Z: f32[1]) -> (Y: f32[4], S: f32[6], V: f32[4], A: f32[1]) {
    H[i, j] = sum[k] X[i, k] * X[i, j] if j > 0
    Y[i] = max[j] H[i, j]
    S[i] = sum[k in 0..i+1] X[0, k]
    V = iterate 3 (v = Y) { w[i] = v[i] * Y[3 - i]; w }
    A = Z
}
""".replace(" if j > 0", ""))
        listed = self.tapc("inspect", "p.tap", "--splits").stdout.decode()
        rows = {}
        for line in listed.splitlines():
            if line.startswith("  "):
                rows[operation].append(line.split(None, 3))
            else:
                operation = line
                rows[operation] = []
        self.assertIn(["k", "0..6", "reduction", "can be split, into partials that sum combines"], rows["H"])
        self.assertIn(["i", "0..6", "parallel",
                       "can be split, into scans of the blocks and the carries between them"], rows["S"])
        self.assertIn("V/w", rows)
        # What is listed as one that can be cut can be, by that name.
        tried = 0
        for operation, dims in rows.items():
            for dim in dims:
                if len(dim) < 4 or not dim[3].startswith("can be split"):
                    continue
                self.write("p.plan", f"plan 2\nsplit {operation} dim {dim[0]} into 2\n")
                self.expect(0, "^$", "verify", "p.tap", "--plan", "p.plan")
                tried += 1
        self.assertGreaterEqual(tried, 7)
        # `inspect --plan` shows what the plan makes, as `opt` does of a stage, in every form.
        self.write("p.plan", "plan 2\nsplit H dim k into 2\n")
        shown = self.tapc("inspect", "--format=ir", "p.tap", "--plan", "p.plan").stdout
        self.assertEqual(shown, self.tapc("opt", "p.tap", "--plan", "p.plan", "--stage", "sharded").stdout)
        self.assertIn(b"block ", shown)
        for form in ("text", "ir", "html", "json", "report-json", "dot", "svg", "graphml"):
            with self.subTest(form):
                after = self.tapc("inspect", "p.tap", "--format", form, "--plan", "p.plan")
                self.assertEqual(after.returncode, 0, after.output)
                self.assertIn(b"H.partial", after.stdout)
        self.expect(2, "T1001", "inspect", "p.tap", "--splits", "--format", "dot")

    def test_which_program(self):
        self.write("p.tap", PROGRAM.replace("main", "first") + PROGRAM.replace("main", "second"))
        self.expect(2, r"(?s)unknown program `NOPE`.*its programs are first, second", "run", "p.tap", "--program",
                    "NOPE", "-i", "X=iota")
        self.expect(2, r"the file has several programs: first, second", "run", "p.tap", "-i", "X=iota")
        self.write("q.tap", DOUBLE)
        self.expect(2, r"(?s)unknown program `NOPE`.*it declares no program", "run", "q.tap", "--program", "NOPE")

    def test_ops_of_a_file_without_operators(self):
        self.write("m.tap", "monoid least(a: f32) { identity inf; combine (x, y) = min(x.a, y.a) }\nprogram p(X: f32[2]) -> (Y: f32[2]) { Y = X }\n")
        result = self.tapc("ops", "--file", "m.tap")
        self.assertEqual(result.stdout.decode(),
                         "`m.tap` declares no operators; its monoids are least; its programs are p\n", result.output)

    def test_location_of_a_failure(self):
        self.write("g.tap", """op look(t: f32[n], at: i64[m]) -> (y: f32[m]) {
    y[i] = t[at[i]]
}
program p(T: f32[5], K: i64[3]) -> (Y: f32[3], Z: i64[3]) {
    Y = look(T, K)
    Z[i] = 10 / (K[i] - 2)
}
""")
        for engine in ("interp", "native"):
            self.expect(6, r"g\.tap:5:\d+: error\[T1301\]: index 9 is out of range", "run", "g.tap", "-i", "T=iota",
                        "-i", "K=[0, 9, 1]", "--engine", engine)
            self.expect(6, r"g\.tap:6:5: error\[T1301\]: division by zero in `Z` at i=1", "run", "g.tap", "-i",
                        "T=iota", "-i", "K=[0, 2, 1]", "--engine", engine)

    def test_one_step(self):
        self.write("p.tap", "program p(X: f32[4]) -> (Y: f32[4]) { Y[i] = X[i] * 1 }\n")
        self.assertTrue(self.tapc("verify", "p.tap", "--stage=sharded").stdout.decode().startswith("1 step\n"))


if __name__ == "__main__":
    unittest.main()
