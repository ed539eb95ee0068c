#!/usr/bin/python3
"""The Tap programs and the command lines in the documentation are true.

A ```tap block is a whole file, which must check. A comment before it may put it into a frame, and name the code of the
error that it shows:

    <!-- tap: T0603 program p(x: f32[4]) -> (y: f32[8]) { @@ } -->

A ```tap, ```plan or ```json block that begins with `// NAME.tap`, `// NAME.plan` or `// NAME.json` is saved under that name (JSON without
that line) for the ```console blocks of its page. Every line `$ tapc …` there is run, and the lines after it must be exactly what it prints.
`$ cat FILE` prints a file that an earlier command wrote. A line `…` stands for any number of lines. Links between pages must lead somewhere.

    documentation_test.py TAPC --update [PAGE…]     rewrites these lines, and the picture in README.md
"""
import re
import shlex
from pathlib import Path

from tapc import *

# A function that a page quotes whole: the file, and how its first line begins.
SOURCE = re.compile(r"<!-- source: (\S+) (.*?) -->\n```cpp\n(.*?)```", re.S)
FENCE = re.compile(r"(?:<!-- tap: (?:(?P<code>T\d{4}) )?(?P<frame>(?:(?!-->).)*?) -->\n)?```(?P<kind>tap|plan|json|console)\n(?P<text>.*?)```", re.S)
PICTURE = "docs/images/layer.svg"
COMMAND = re.compile(r"^\$ ((?:tapc|cat) .*)\n((?:(?!\$ ).*\n)*)", re.M)
# Legal as soon as an input says its shape.
SHAPES = {"program any_shape": ["-i", "x=f32[2, 3]=iota", "--program", "any_shape"]}


def pages():
    readmes = [page for depth in ("*", "*/*", "compiler/*/*") for page in ROOT.glob(depth + "/README.md")]
    for page in sorted({*ROOT.glob("*.md"), *readmes, *(ROOT / "docs").rglob("*.md")}):
        if page.is_file() and not page.parts[len(ROOT.parts)].startswith("build"):
            yield page, list(FENCE.finditer(page.read_text(encoding="utf-8")))


def chunks(excerpt):
    """The runs of lines between the lines `…`, and whether the excerpt begins or ends with such a line."""
    parts = re.split(r"^…$\n?", excerpt.strip() + "\n", flags=re.M)
    return [part.splitlines() for part in parts]


def is_excerpt(excerpt, printed):
    parts = chunks(excerpt)
    pattern = r"(?:.*\n)*?".join("".join(re.escape(line) + r"\n" for line in part) for part in parts)
    return re.fullmatch(pattern, printed.strip() + "\n") is not None


def renewed_excerpt(excerpt, printed):
    """The same parts of what is printed now, which are found by their first and last lines; or nothing."""
    lines, parts, at, renewed = printed.strip().splitlines(), chunks(excerpt), 0, []
    for part in parts:
        try:
            begin = lines.index(part[0], at) if part else at
            at = lines.index(part[-1], begin) + 1 if part else at
        except ValueError:
            return None
        renewed.append(lines[begin:at])
    return "\n".join("\n".join([*part, "…"]) for part in renewed).removesuffix("…").removesuffix("\n") + "\n"


def headings(page):
    """The anchors of its headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", title)).strip().lower().replace(" ", "-")
            for title in re.findall(r"(?m)^#+ (.*)$", text)}


class Documentation(TapcTest):
    def test_the_documentation_has_enough_examples(self):
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

    def test_command_lines_print_the_documented_output(self):
        for page, blocks in pages():
            for block in blocks:
                self.keep(block)
            for block in blocks:
                if block["kind"] != "console":
                    continue
                for command, expected in COMMAND.findall(block["text"]):
                    with self.subTest(page=page.relative_to(ROOT).as_posix(), command=command):
                        printed = self.printed(command)
                        if not is_excerpt(expected, printed):
                            self.assertEqual(printed, expected.strip())

    def test_quoted_functions_are_those_of_the_sources(self):
        quoted = 0
        for page, _ in pages():
            for file, begin, text in SOURCE.findall(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, file=file):
                    source = (ROOT / file).read_text(encoding="utf-8")
                    at = source.index("\n" + begin) + 1
                    self.assertEqual(text, source[at:source.index("\n}\n", at) + 3])
                    quoted += 1
        self.assertGreaterEqual(quoted, 1)

    def test_links_have_targets(self):
        """Relative links: the file exists, and so does the heading after `#`."""
        tried = 0
        for page, _ in pages():
            text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
            for link in re.findall(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", text):
                path, _, anchor = (link[0] or link[1]).partition("#")
                if "://" in path:
                    continue
                with self.subTest(page=page.name, link=link):
                    to = page.parent / path if path else page
                    self.assertTrue(to.exists())
                    if anchor:
                        self.assertIn(anchor, headings(to))
                tried += 1
        self.assertGreater(tried, 100)

    def test_the_picture_is_current(self):
        self.assertEqual((ROOT / PICTURE).read_text(encoding="utf-8"), self.picture())

    def picture(self):
        """The sharded graph of the first program of README.md."""
        for block in FENCE.finditer((ROOT / "README.md").read_text(encoding="utf-8")):
            self.keep(block)
        self.write("layer.plan", "plan 2\n")
        return self.expect(0, "^$", "inspect", "layer.tap", "--plan", "layer.plan", "--format", "svg").stdout.decode()

    def keep(self, block):
        named = re.match(r"// (\w+\.(tap|plan|json))\n", block["text"])
        if named and named[2] == block["kind"]:
            self.write(named[1], block["text"][named.end() if named[2] == "json" else 0:])

    def printed(self, command):
        program, *arguments = shlex.split(command)
        if program == "cat":
            return (self.folder / arguments[0]).read_text(encoding="utf-8").strip()
        result = self.tapc(*arguments)
        return (result.stdout.decode() + result.output).strip()

    def answer(self, command, expected):
        printed = self.printed(command)
        if "…" not in expected.splitlines():
            return (printed + "\n").lstrip("\n")
        answer = renewed_excerpt(expected, printed)
        if answer is None:
            print(f"`{command}`: no such lines any more; choose the excerpt anew")
        return expected if answer is None else answer

    def update(self, paths):
        for page, blocks in pages():
            if paths and page.resolve() not in paths:
                continue
            for block in blocks:
                self.keep(block)
            if page == ROOT / "README.md":
                (ROOT / PICTURE).write_text(self.picture(), encoding="utf-8")

            def renew(block):
                if block["kind"] != "console":
                    return block[0]
                return block[0].replace(block["text"], COMMAND.sub(lambda line: f"$ {line[1]}\n" + self.answer(*line.groups()), block["text"]))

            page.write_text(FENCE.sub(renew, page.read_text(encoding="utf-8")), encoding="utf-8")


if "--update" in sys.argv:
    test = Documentation()
    test.setUp()
    test.update({Path(name).resolve() for name in sys.argv[2:]})
    test.tearDown()
elif __name__ == "__main__":
    unittest.main()
