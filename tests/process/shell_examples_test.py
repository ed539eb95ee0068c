#!/usr/bin/python3
"""The ```sh blocks of the documentation print what they say: C and Python programs, tapc-check, pipes.

A ```tap, ```plan, ```toml, ```c, ```cpp, ```cmake or ```python block that begins with `// NAME` or `# NAME` is saved under that
name. Every line `$ COMMAND` in a ```sh block is then run by bash in the page's folder, in order, and the lines after it must be exactly what it
prints. Pages without such lines are not run here.

    shell_examples_test.py TAPC --update [PAGE…]     rewrites these lines
"""
import re
from pathlib import Path

from tapc import *

FENCE = re.compile(r"```(?P<kind>\w+)\n(?P<text>.*?)```", re.S)
NAMED = re.compile(r"(?://|#) ([\w.]+)\n")
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)


class ShellExamples(TapcTest):
    def pages(self):
        for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
            blocks = list(FENCE.finditer(page.read_text(encoding="utf-8")))
            if any(block["kind"] == "sh" and COMMAND.search(block["text"]) for block in blocks):
                yield page, blocks

    def keep(self, blocks):
        for block in blocks:
            named = NAMED.match(block["text"])
            if named and block["kind"] != "sh":
                self.write(named[1], block["text"])

    def printed(self, command):
        # Debian's Python: others lack NumPy.
        (self.folder / "bin").mkdir(exist_ok=True)
        python = self.folder / "bin/python3"
        if not python.exists():
            python.symlink_to("/usr/bin/python3")
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{TAPC.parent}:{os.environ['PATH']}", "HOME": str(self.folder),
                       "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(["bash", "--norc", "-c", command], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        return done.stdout.strip()

    @unittest.skipIf(SANITIZED, "C and Python programs would need the sanitizer's runtime")
    def test_commands_print_the_documented_output(self):
        tried = 0
        for page, blocks in self.pages():
            self.keep(blocks)
            for block in blocks:
                if block["kind"] != "sh":
                    continue
                for command, expected in COMMAND.findall(block["text"]):
                    tried += 1
                    with self.subTest(page=page.name, command=command):
                        self.assertEqual(self.printed(command), expected.strip())
        self.assertGreater(tried, 5)

    def update(self, paths):
        for page, blocks in self.pages():
            if paths and page.resolve() not in paths:
                continue
            self.keep(blocks)

            def renew(block):
                if block["kind"] != "sh":
                    return block[0]
                return "```sh\n" + COMMAND.sub(lambda line: f"$ {line[1]}\n" + (self.printed(line[1]) + "\n").lstrip("\n"),
                                               block["text"]) + "```"

            page.write_text(FENCE.sub(renew, page.read_text(encoding="utf-8")), encoding="utf-8")


if "--update" in sys.argv:
    test = ShellExamples()
    test.setUp()
    test.update({Path(name).resolve() for name in sys.argv[2:]})
    test.tearDown()
elif __name__ == "__main__":
    unittest.main()
