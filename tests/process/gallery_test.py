#!/usr/bin/python3
"""docs/gallery is what scripts/gallery.py makes of the examples now, and notices a change. gallery_test.py TAPC"""
import re
import shutil

from tapc import *


class Gallery(TapcTest):
    def check(self, root):
        return subprocess.run(["/usr/bin/python3", root / "scripts/gallery.py", TAPC, "--check"], capture_output=True, text=True, timeout=240)

    def test_it_is_current(self):
        result = self.check(ROOT)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_stale_picture_is_found(self):
        copy = self.folder / "copy"
        for folder in ("scripts", "examples", "docs/gallery"):
            (copy / folder).mkdir(parents=True)
        shutil.copy(ROOT / "scripts/gallery.py", copy / "scripts")
        shutil.copy(ROOT / "examples/linear.tap", copy / "examples")
        for path in (ROOT / "docs/gallery").glob("linear*"):
            shutil.copy(path, copy / "docs/gallery")
        subprocess.run(["/usr/bin/python3", copy / "scripts/gallery.py", TAPC], check=True, timeout=60)
        self.assertEqual(self.check(copy).returncode, 0)
        program = copy / "examples/linear.tap"
        program.write_text(re.sub(r"\bX\b", "Q", program.read_text()))
        result = self.check(copy)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "up to date: linear.svg, linear_sharded.svg;")


if __name__ == "__main__":
    unittest.main()
