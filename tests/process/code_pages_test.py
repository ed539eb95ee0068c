#!/usr/bin/python3
"""The examples on the pages of docs/codes are true: the first fails with that code, the last checks.

    code_pages_test.py TAPC        only pages whose examples are programs, not command lines
"""
import re
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "forks"))
import forks  # noqa: E402

TAPC = Path(sys.argv.pop(1)).resolve()
PAGES = Path(__file__).resolve().parents[2] / "docs/codes"
ELIDED = {"T0103", "T0105", "T0113", "T0406"}  # an example has an unprintable byte, or is too long to be printed
NEEDS_RUNNING = {"T1002", "T1301"}  # legal to check; fails only when a program is run


def blocks(page):
    found = re.findall(r"(?:^    .*\n(?:\n(?=    ))*)+", page.read_text(encoding="utf-8"), re.M)
    return [textwrap.dedent(b) for b in found]


def is_program(block):
    return not block.startswith(("tapc ", "/usr/bin/"))


class CodePagesTest(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "a.tap"
            source.write_text(text, encoding="utf-8")
            return forks.run([TAPC, "check", "a.tap"], cwd=folder, text=True, timeout=30)

    def test_pages(self):
        pages = [p for p in sorted(PAGES.glob("T*.md")) if p.stem not in ELIDED and len(blocks(p)) > 1
                 and all(map(is_program, blocks(p)))]
        self.assertGreater(len(pages), 50)
        for page in pages:
            code = page.stem
            failing, fixed = blocks(page)[0], blocks(page)[-1]
            with self.subTest(code=code, example="failing"):
                if code not in NEEDS_RUNNING:
                    result = self.check(failing)
                    self.assertIn(f"[{code}]", result.stderr)
                    self.assertEqual(result.returncode, 1 if "error[" in result.stderr else 0, result.stderr)
            with self.subTest(code=code, example="fixed"):
                result = self.check(fixed)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertNotIn(f"[{code}]", result.stderr)


if __name__ == "__main__":
    unittest.main()
