#!/usr/bin/python3
"""Warnings of what is likely a slip give no false alarm: none in the library, in the examples and in the programs of the documentation."""
import re

from tapc import *

FENCED = re.compile(r"^(?:<!-- tap:(?P<frame>.*?)-->\n)?```tap\n(?P<text>.*?)^```", re.M | re.S)


class Warnings(TapcTest):
    def none_in(self, name, path):
        result = self.tapc("check", str(path))
        with self.subTest(name):
            self.assertNotRegex(result.output, r"T0210|T0410")

    def test_library_and_examples(self):
        for path in [ROOT / "lib/std.tap", *sorted((ROOT / "examples").rglob("*.tap"))]:
            self.none_in(path.name, path)

    def test_documentation(self):
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "grammar/README.md"]:
            if page.parent.name == "codes":
                continue  # their examples fail on purpose
            for k, block in enumerate(FENCED.finditer(page.read_text(encoding="utf-8"))):
                frame = block["frame"] or ""
                text = frame.replace("@@", block["text"]) if "@@" in frame else block["text"]
                if re.match(r"\s*T\d{4}", frame):
                    continue
                self.none_in(f"{page.name} {k}", self.folder / self.write("a.tap", text))


if __name__ == "__main__":
    unittest.main()
