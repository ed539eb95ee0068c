#!/usr/bin/python3
"""docs/bad_inputs_coverage.md names tests that exist, at least one for each row. Usage: coverage_test.py ROOT"""
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
        for letter, last in (("A", 18), ("B", 20), ("E", 14)):
            for number in range(1, last + 1):
                self.assertIn(f"{letter}{number:02}", rows)
        self.assertEqual(len(rows), len(set(rows)))


if __name__ == "__main__":
    unittest.main()
