#!/usr/bin/python3
"""The Tap programs and the command lines in the documentation are true.

A ```tap block is a whole file, which must check. A comment before it may put it into a frame, and name the code of the
error that it shows:

    <!-- tap: T0603 program p(x: f32[4]) -> (y: f32[8]) { @@ } -->

A block that begins with `// NAME.tap` is kept under that name for the ```console blocks of its page, in which every line
`$ tapc …` is run and what follows it must be what is printed. `$ cat FILE` prints a file that an earlier line wrote. A line
`…` stands for any number of lines.
"""
import re
import shlex

from tapc import *

FENCE = re.compile(r"(?:<!-- tap: (?:(?P<code>T\d{4}) )?(?P<frame>(?:(?!-->).)*?) -->\n)?```(?P<kind>tap|console)\n(?P<text>.*?)```", re.S)
# Legal as soon as an input says its shape.
SHAPES = {"program any_shape": ["-i", "x=f32[2, 3]=iota", "--program", "any_shape"]}


def pages():
    readmes = [page for depth in ("*", "*/*", "compiler/*/*") for page in ROOT.glob(depth + "/README.md")]
    for page in sorted({*ROOT.glob("*.md"), *readmes, *(ROOT / "docs").rglob("*.md")}):
        if page.is_file() and not page.parts[len(ROOT.parts)].startswith("build"):
            yield page, list(FENCE.finditer(page.read_text(encoding="utf-8")))


def excerpt(wanted):
    """A pattern for the text, in which a line `…` is any number of lines."""
    return "".join(r"(?:.*\n)*?" if line == "…" else re.escape(line) + r"\n" for line in wanted.strip().split("\n"))


class Documentation(TapcTest):
    def test_there_is_enough_of_it(self):
        counted = {page.relative_to(ROOT).as_posix(): len(blocks) for page, blocks in pages()}
        self.assertGreaterEqual(counted["grammar/README.md"], 14)
        self.assertGreaterEqual(counted["README.md"], 4)

    def test_every_program_is_legal_or_shows_its_error(self):
        for page, blocks in pages():
            for block in blocks:
                if block["kind"] != "tap":
                    continue
                where = f"{page.relative_to(ROOT)}:{page.read_text()[:block.start('text')].count(chr(10)) + 1}"
                with self.subTest(where):
                    text = block["text"] if block["frame"] is None else block["frame"].replace("@@", block["text"])
                    self.assertNotIn("@@", text)
                    run = next((arguments for name, arguments in SHAPES.items() if name in text), None)
                    if run:
                        self.write("a.tap", text)
                        self.expect(0, r"^$", "run", "a.tap", *run)
                        text = re.sub(r"(?m)^program any_shape.*\n", "", text)
                    self.write("a.tap", text)
                    if block["code"]:
                        self.expect(1, rf"error\[{block['code']}\]", "check", "a.tap")
                    else:
                        self.expect(0, r"^((?!error).)*$", "check", "a.tap")

    def test_the_command_lines_print_what_they_say(self):
        for page, blocks in pages():
            for block in blocks:
                named = re.match(r"// (\w+\.tap)\n", block["text"])
                if block["kind"] == "tap" and named:
                    self.write(named[1], block["text"])
            for block in blocks:
                if block["kind"] != "console":
                    continue
                for program, command, wanted in re.findall(r"^\$ (tapc|cat) (.*)\n((?:(?!\$ ).*\n)*)", block["text"], re.M):
                    with self.subTest(page=page.relative_to(ROOT).as_posix(), command=command):
                        if program == "cat":
                            printed = (self.folder / command).read_text()
                        else:
                            result = self.tapc(*shlex.split(command))
                            printed = result.stdout.decode() + result.told
                        if "\n…\n" not in "\n" + wanted:
                            self.assertEqual(printed.strip(), wanted.strip())
                        elif not re.fullmatch(excerpt(wanted), printed.strip() + "\n"):
                            self.fail(f"{wanted}\nis no excerpt of\n\n{printed}")


if __name__ == "__main__":
    unittest.main()
