#!/usr/bin/python3
"""The lint of words finds old phrases in text that users see, and nowhere else. Usage: lint_words_test.py LINT"""
import unittest

from lint_trees import LintedTrees


class LintTest(LintedTrees):
    def test_old_phrases(self):
        for name, text, line, phrase in [
                ("ir/a.cpp", 'int a;\nauto text = "`x` is no number";\n', 2, "is no number"),
                ("ir/a.cpp", 'auto text =\n    "a value was "\n    "wanted";\n', 2, "was wanted"),
                ("ir/a.h", 'constexpr auto text = R"(one\nMemory does not suffice)";\n', 1, "Memory does not suffice"),
                ("ir/names.def", 'NAME(a, "what nobody asked for")\n', 1, "nobody asked"),
                ("ir/a.h", "// A box.\n//\n// What lies\n// in it.\nint a;\n", 3, "What lies"),
                ("ir/README.md", "# IR\n\nA dim can be cut.\n", 3, "can be cut"),
                ("docs/guide/a.md", "It tells the options.\n", 1, "tells the options"),
                ("README.md", "Cells lie between each other.\n", 1, "lie between each other"),
                ("tests/golden/command_line/a.txt", "// | error: `7` is no value of --json\n", 1, "is no value of")]:
            code, out = self.lint({name: text})
            self.assertEqual(code, 1, out)
            self.assertIn(f"{name}:{line}: `{phrase}`; write `", out)
            self.assertIn("1 files, ", out)

    def test_other_text(self):
        code, out = self.lint({
            "ir/a.cpp": '\n// What is no number is wanted.\nbool is_no_number;  /* was wanted */\nchar c = \'"\';\n'
                        '#include "was wanted.h"\nauto text = "expected a number";\n',
            "ir/notes.txt": "is no number\n",
            "docs/glossary.md": "| fix | not: a mend |\n",
            "tests/ir/a_test.cpp": 'auto text = "is no number";\n',
            "build/a.cpp": 'auto text = "is no number";\n',
            ".ci/a.md": "is no number\n",
        })
        self.assertEqual(code, 0, out)
        self.assertIn("1 files, ", out)
        self.assertIn(" 0 of them found", out)


if __name__ == "__main__":
    unittest.main()
