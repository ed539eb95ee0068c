#!/usr/bin/python3
"""tapc new makes a project whose README is true; tapc completion prints scripts that offer what there is."""
import re
import shlex
import shutil
import time

from tapc import *


class Project(TapcTest):
    def test_new_works_out_of_the_box(self):
        result = self.tapc("new", "hello")
        self.assertEqual(result.returncode, 0, result.output)
        self.assertEqual(sorted(p.name for p in (self.folder / "hello").iterdir()),
                         [".gitignore", "README.md", "main.tap"])
        commands = re.findall(r"^    tapc (.*?)(?:  +.*)?$", (self.folder / "hello/README.md").read_text(), re.M)
        self.assertGreaterEqual(len(commands), 5)
        for command in commands:
            with self.subTest(command):
                done = subprocess.run([TAPC, *shlex.split(command)], cwd=self.folder / "hello", capture_output=True,
                                      stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_new_has_default_permissions(self):
        for mask, expected in ((0o022, 0o755), (0o077, 0o700), (0o002, 0o775)):
            name = f"with_{mask:o}"
            self.assertEqual(self.tapc("new", name, before=lambda: os.umask(mask)).returncode, 0)
            self.assertEqual((self.folder / name).stat().st_mode & 0o777, expected)

    def test_an_interrupted_new_leaves_no_files(self):
        for k in range(20):
            process = subprocess.Popen([TAPC, "new", "p"], cwd=self.folder, stdout=subprocess.DEVNULL)
            time.sleep(0.001 * k)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=10)
            self.assertIn({p.name for p in self.folder.iterdir()}, (set(), {"p"}))
            if (self.folder / "p").exists():
                self.assertEqual(len(list((self.folder / "p").iterdir())), 3)
                shutil.rmtree(self.folder / "p")

    def test_new_never_overwrites(self):
        (self.folder / "full").mkdir()
        (self.folder / "full/mine").write_text("mine")
        self.write("file", "mine")
        for place in ("full", "file", ".", "..", "/"):
            self.expect(2, r"T1001", "new", place)
        self.expect(2, r"T1001\]: the folder name is empty\nhelp: write a name: tapc new hello", "new", "")
        self.expect(4, r"T1201", "new", "missing/hello")
        self.assertEqual((self.folder / "full/mine").read_text(), "mine")
        (self.folder / "empty").mkdir()
        self.assertEqual(self.tapc("new", "empty/").returncode, 0)
        self.assertNoTemporaries()

    def commands(self):
        listed = self.tapc("--help").stdout.decode().split("Subcommands:")[1]
        return re.findall(r"^  (\w+) ", listed, re.M)

    def complete(self, *words):
        script = ('source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tapc; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, TAPC, "tapc", *words], cwd=self.folder, capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_existing_names(self):
        self.assertEqual(sorted(self.complete("")), sorted(self.commands()))
        self.assertEqual(self.complete("insp"), ["inspect"])
        self.assertIn("--format", self.complete("inspect", "--fo"))
        self.assertEqual(sorted(self.complete("inspect", "--format", "")), ["dot", "graphml", "html", "ir", "json", "report-json", "svg", "text"])
        self.assertEqual(self.complete("inspect", "--format", "j"), ["json"])
        self.write("mine.tap", DOUBLE)
        self.assertIn("mine.tap", self.complete("check", "mi"))
        for command in self.commands():
            offered = self.complete(command, "-")
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.tapc(command, "--help").stdout.decode(), re.M):
                self.assertIn(option, offered)

    def test_zsh_and_fish_name_everything(self):
        for shell in ("zsh", "fish"):
            script = self.tapc("completion", shell).stdout.decode()
            for command in self.commands():
                self.assertIn(command, script)
            self.assertIn("message-format", script)
            self.assertIn("graphml", script)


if __name__ == "__main__":
    unittest.main()
