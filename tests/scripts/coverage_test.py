#!/usr/bin/python3
"""docs/bad_inputs_coverage.md and the pages of what is shown name tests that exist, at least one for each row; and what every
test compiles is certified. Usage: coverage_test.py ROOT"""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
ROWS = re.findall(r"^\| ([A-H]\d\d) \| .* \| (.*) \|$", (ROOT / "docs/bad_inputs_coverage.md").read_text(), re.M)


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

    def test_what_shows_a_promise_exists(self):
        """Files, and names in brackets after them that stand in these."""
        for page, least in (("rewrites_shown.md", 30), ("language_shown.md", 50), ("shardings_shown.md", 40)):
            rows = [re.split(r"(?<!\\)\|", line) for line in (ROOT / "docs" / page).read_text().splitlines()]
            tried = 0
            for where in (row[2] for row in rows if len(row) == 6 or len(row) == 4 and row[1][1:2].isdigit()):
                for path, name in re.findall(r"`((?:tests|passes|bench|scripts|docs|grammar|support|lib|examples|ir)/[\w./*]*)`"
                                             r"(?: \(`(\w+)[*…]*`)?", where):
                    with self.subTest(path, name=name):
                        files = list(ROOT.glob(path))
                        self.assertTrue(files)
                        self.assertTrue(any(file.is_dir() or name in file.read_text() for file in files))
                        tried += 1
            self.assertGreater(tried, least)

    def test_what_shows_a_trap_exists(self):
        """Unit tests by their names, where only the second part may be written after the first test of a suite."""
        tests = "".join(file.read_text() for file in (ROOT / "tests").rglob("*_test.cpp"))
        known = {f"{suite}.{name}" for suite, name in re.findall(r"TEST(?:_[FP])?\((\w+),\s*(\w+)\)", tests)}
        rows = re.findall(r"^\| (\d+)[^|]* \| (.*) \|$", (ROOT / "docs/language_shown.md").read_text(), re.M)
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
