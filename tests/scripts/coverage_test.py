#!/usr/bin/python3
"""docs/dev/testing.md names tests that exist, at least one for each row; and what every test compiles is certified.
Usage: coverage_test.py ROOT"""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
PAGE = (ROOT / "docs/dev/testing.md").read_text()
ROWS = re.findall(r"^\| ([A-H]\d\d) \| .* \| (.*) \|$", PAGE, re.M)


class CoverageTest(unittest.TestCase):
    def test_every_row_names_tests_that_exist(self):
        self.assertGreater(len(ROWS), 60)
        for row, tests in ROWS:
            for test in tests.split(", "):
                with self.subTest(f"{row}: {test}"):
                    self.assertTrue(self.exists(test))

    def exists(self, test):
        path, _, method = test.partition(":")
        if method:
            return f"def {method}" in (ROOT / "tests" / path).read_text()
        return any((ROOT / "tests").glob(path + "*"))

    def test_every_row_of_the_parts_that_exist(self):
        rows = [row for row, _ in ROWS]
        for letter, last, later in (("A", 18, ()), ("B", 20, ()), ("C", 11, ()), ("D", 13, (11,)), ("E", 14, ())):
            for number in set(range(1, last + 1)) - set(later):
                self.assertIn(f"{letter}{number:02}", rows)
        self.assertEqual(len(rows), len(set(rows)))

    def test_what_shows_a_guarantee_exists(self):
        """Files, and names in brackets after them that occur in these files."""
        rows = [re.split(r"(?<!\\)\|", line) for line in PAGE.splitlines()]
        tried = 0
        for where in (row[2] for row in rows if len(row) in (4, 5)):
            for path, name in re.findall(r"`((?:tests|passes|bench|scripts|docs|grammar|support|lib|examples|ir)/[\w./*]*)`"
                                         r"(?: \(`(\w+)[*…]*`)?", where):
                with self.subTest(path, name=name):
                    files = list(ROOT.glob(path))
                    self.assertTrue(files)
                    self.assertTrue(any(not name or self.mentions(file, name) for file in files))
                    tried += 1
        self.assertGreater(tried, 150)

    def mentions(self, path, name):
        files = path.rglob("*") if path.is_dir() else [path]
        return any(name in file.read_text(errors="replace") for file in files if file.is_file())

    def test_what_shows_a_trap_exists(self):
        """Unit tests by their names, where only the second part may be written after the first test of a suite."""
        tests = "".join(file.read_text() for file in (ROOT / "tests").rglob("*_test.cpp"))
        known = {f"{suite}.{name}" for suite, name in re.findall(r"TEST(?:_[FP])?\((\w+),\s*(\w+)\)", tests)}
        section = PAGE.split("## Small cases")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (\d+)[^|]* \| (.*) \|$", section, re.M)
        self.assertGreater(len(rows), 18)
        for number, where in rows:
            suite = ""
            for text in re.findall(r"`([\w.…]+)`", where):
                with self.subTest(trap=number, test=text):
                    suite, _, name = text.partition(".") if "." in text else (suite, "", text)
                    name = name.rstrip("…")
                    self.assertTrue(any(test.startswith(f"{suite}.{name}") for test in known))
            for path in re.findall(r"`((?:tests|index_spaces|shardings|onnx)/[\w./]*)`|`(d\d\d_\w+)`", where):
                with self.subTest(trap=number, path=path):
                    part = path[0] or "shardings/" + path[1]
                    self.assertTrue(any((ROOT / ("" if part.startswith("tests") else "tests/golden")).glob(part + "*")))

    def test_nothing_switches_the_checker_off(self):
        """`run`, `compile`, `opt` and `inspect --plan` check what they make unless they are told not to; no test does."""
        off = re.compile(r"no-verif[y]|verify *= *fals[e]")
        for folder in ("tests", "bench", "examples", "scripts", ".ci"):
            for file in (ROOT / folder).rglob("*"):
                if file.is_file() and file.suffix in {"", ".cpp", ".h", ".py", ".sh", ".tap", ".txt", ".md"}:
                    # One of these: that a program which is compiled already refuses the option.
                    allowed = 1 if file.name == "compile_test.py" else 0
                    self.assertLessEqual(len(off.findall(file.read_text(errors="replace"))), allowed, file)
        self.assertIn("bool verify = true", (ROOT / "compiler/driver/commands/passes.h").read_text())
        self.assertIn("Proof proof = Proof::required", (ROOT / "compiler/pipeline/pipeline.h").read_text())


if __name__ == "__main__":
    unittest.main()
