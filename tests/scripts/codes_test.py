#!/usr/bin/python3
"""Every diagnostic code has its page, and at least one test that expects it. Usage: codes_test.py ROOT"""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
CODES = re.findall(r'^TAP_CODE\((\w+), "(T\d{4})", (\w+), "(.*)"\)', (ROOT / "support/codes.def").read_text(), re.M)
NOT_EXPECTATIONS = {Path(__file__).name, "code_pages_test.py"}  # they only list codes
PAGES = ROOT / "docs/codes"


def expectations():
    """The text of all tests that expect a code of tapc."""
    texts = []
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.suffix in {".cpp", ".h", ".py", ".tap", ".txt", ".expected",
                           ".cmd"} and path.name not in NOT_EXPECTATIONS:
            texts.append(path.read_text(encoding="utf-8", errors="replace"))
    return "\n".join(texts)


class CodesTest(unittest.TestCase):
    def test_every_code_has_a_page_with_its_title(self):
        for _, code, _, title in CODES:
            with self.subTest(code):
                page = PAGES / f"{code}.md"
                self.assertTrue(page.is_file(), f"docs/codes/{code}.md is missing")
                text = page.read_text(encoding="utf-8")
                self.assertEqual(text.split("\n")[0], f"# {code}: {title}")
                self.assertRegex(text, r"\n\n    \S", "an example")

    def test_every_page_has_a_code(self):
        known = {code for _, code, _, _ in CODES}
        self.assertEqual([p.name for p in sorted(PAGES.glob("T*.md")) if p.stem not in known], [])

    def test_the_list_is_complete(self):
        text = (PAGES / "README.md").read_text(encoding="utf-8")
        missing = [code for _, code, severity,
                   title in CODES if f"- [{code}]({code}.md) ({severity}): {title}\n" not in text]
        self.assertEqual(missing, [])

    def test_every_code_is_expected_by_a_test(self):
        text = expectations()
        missing = {code for name, code, _, _ in CODES if code not in text and not re.search(rf"\bCode::{name}\b", text)}
        self.assertEqual(missing, set())


if __name__ == "__main__":
    unittest.main()
