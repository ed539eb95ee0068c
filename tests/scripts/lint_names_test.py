#!/usr/bin/python3
"""The lint of names finds what several sources of a folder define, and nothing else. Usage: lint_names_test.py LINT"""
import unittest

from lint_trees import LintedTrees


def source(*lines, space="tap"):
    return "\n".join([f"namespace {space} {{", "namespace {", *lines, "}  // namespace", f"}}  // namespace {space}", ""])


class LintTest(LintedTrees):
    def test_duplicate_names(self):
        for line, name in [("struct Reader {", "Reader"), ("int area(int a, const Box& b) {", "area"),
                           ("constexpr int most = 4;", "most"), ("template <class T> T checked(T value) {", "checked")]:
            code, out = self.lint({"ir/a.cpp": source(line), "ir/b.cpp": source(line)})
            self.assertEqual(code, 1, out)
            self.assertIn(f"ir: tap: `{name}` is defined by a.cpp, b.cpp", out)
        code, out = self.lint({"ir/a.cpp": source("void load(const S& s) {"),
                               "ir/b.cpp": source("void load(const S& text, const Limits& limits = {}) {")})
        self.assertEqual(code, 1, out)
        code, out = self.lint({"ir/a.cpp": source("double bytes(const ir::Type& t) {"),
                               "ir/b.cpp": source("double bytes(const Type& t) {")})
        self.assertEqual(code, 1, out)
        code, out = self.lint({"ir/a.cpp": source("constexpr double exact = 0, library = 4;"),
                               "ir/b.cpp": source("double library(double a) {")})
        self.assertEqual(code, 1, out)
        code, out = self.lint({"ir/a.cpp": source("using K = int;"), "ir/b.cpp": source("using K = long;")})
        self.assertEqual(code, 1, out)

        alias = "namespace tap {\nusing K = long;\n}  // namespace tap\n"
        code, out = self.lint({"ir/a.cpp": source("using K = int;"), "ir/b.cpp": alias})
        self.assertEqual(code, 1, out)

    def test_harmless_duplicates(self):
        code, out = self.lint({
            "ir/a.cpp": source("struct Reader {", "int area(int a) {", "using K = int;", "struct Later;"),
            "ir/b.cpp": source("int area(const Box& b) {", "using K = int;", "struct Later;"),
            "ir/c.cpp": source("struct Reader {", space="tap::other"),
            "passes/a.cpp": source("struct Reader {"),
            "build/ir/a.cpp": source("struct Reader {"),
            "build/ir/b.cpp": source("struct Reader {"),
        })
        self.assertEqual(code, 0, out)
        self.assertIn("2 folders, 0 names", out)


if __name__ == "__main__":
    unittest.main()
