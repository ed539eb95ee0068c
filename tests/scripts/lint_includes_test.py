#!/usr/bin/python3
"""The include lint finds each kind of violation, and nothing else. Usage: lint_includes_test.py LINT"""
import unittest

from lint_trees import LintedTrees


class LintTest(LintedTrees):
    def refused(self, files, *expected):
        code, out = self.lint(files)
        self.assertEqual(code, 1, out)
        for text in expected:
            self.assertIn(text, out)

    def test_clean_tree(self):
        code, out = self.lint({
            "support/a.h": "#pragma once\n",
            "ir/b.cpp": '#include "support/a.h"\n#include <vector>\n// "relu" in a comment\n/* "relu" */ int x;\n',
            "ir/my_graph.cpp": "#include <boost/graph/adjacency_list.hpp>\n",
            "backend/llvm/c.cpp": "#include <llvm/IR/Module.h>\n",
            "compiler/driver/d.cpp": 'auto s = "relu";\n',
            "tests/ir/t.cpp": "#include <nlohmann/json.hpp>\n",
            "lib/std.tap": "op relu(x: T[d..]) -> (y: T[d..]) {}\n",
        })
        self.assertEqual(code, 0, out)
        self.assertIn("6 files, 1 operator names, 0 violations", out)

    def test_wrong_direction(self):
        self.refused({"support/a.cpp": '#include "ir/b.h"\n', "ir/b.h": "#pragma once\n"},
                     "support/a.cpp:1: support/ may not include ir/")
        self.refused({"check/a.cpp": '#include "passes/b.h"\n', "passes/b.h": "#pragma once\n"},
                     "check/ may not include passes/")
        self.refused({"check/a.cpp": '#include "ir/interpret/interpret.h"\n', "ir/interpret/interpret.h": "#pragma once\n"},
                     "checker may not use")
        self.refused({"check/a.cpp": "Box b = p.bounds(box);\n"}, "check/a.cpp:1: the checker may not use `.bounds(`")
        self.refused({"check/a.cpp": "int x;\n" * 5000}, "check: 5000 lines of code")
        self.refused({"replay/a.cpp": "Box b = p.bounds(box);\nint x;\n" + "int x;\n" * 5000},
                     "replay/a.cpp:1: the checker may not use `.bounds(`", "replay: 5002 lines")
        self.refused({"ir/verify/well_formed.cpp": "bool b = tiles(x);\n"}, "the checker may not use `tiles(`")
        self.refused({"passes/a.cpp": '#include "ir/verify/well_formed.h"\n', "ir/verify/well_formed.h": "#pragma once\n"},
                     '"ir/verify/well_formed.h" is for the checker')
        self.refused({"compiler/frontend/a.cpp": '#include "runtime/b.h"\n', "runtime/b.h": "#pragma once\n"},
                     "compiler/frontend/ may not include runtime/")

    def test_rooms(self):
        self.refused({"passes/simplify/a.cpp": '#include "passes/splits/b.h"\n', "passes/splits/b.h": "#pragma once\n"},
                     "passes/simplify/ may not include passes/splits/")
        code, out = self.lint({"passes/shardings/a.cpp": '#include "passes/splits/b.h"\n', "passes/splits/b.h": "#pragma once\n"})
        self.assertEqual(code, 0, out)
        self.refused({f"ir/a{i}.cpp": "" for i in range(71)}, "ir: 71 sources, and at most 70")
        self.refused({"ir/a.cpp": "\n" * 401}, "ir/a.cpp: 401 lines, and at most 400")

    def test_libraries_stay_home(self):
        for header, home in (("llvm/IR/Module.h", "backend/llvm/x.h"), ("antlr4-runtime.h", "compiler/frontend/resolve.cpp"),
                             ("boost/graph/adjacency_list.hpp", "ir/box.cpp"), ("isl/set.h", "passes/split.cpp"),
                             ("z3++.h", "compiler/frontend/legality.cpp"), ("mpi.h", "runtime/npy.cpp"),
                             ("CLI/CLI.hpp", "ir/box.cpp")):
            self.refused({home: f"#pragma once\n#include <{header}>\n"}, f"{home}:2: <{header}> belongs in")

    def test_missing_file_and_pragma(self):
        self.refused({"ir/a.h": '#include "b.h"\n'}, 'ir/a.h:1: "b.h" is no file', "#pragma once")

    def test_readme_names_files(self):
        self.refused({"ir/text/README.md": "# ir/text\n| `gone.h` | nothing |\n"}, "ir/text/README.md:2: `gone.h` is no file")
        self.refused({"README.md": "", "ir/README.md": "", "ir/text/a.cpp": ""}, "ir/text: a room without a README.md")
        self.refused({"ir/README.md": "# ir\n| `gone.h` | nothing |\n"}, "ir/README.md:2: `gone.h` is no file")
        code, out = self.lint({"ir/README.md": "`a.h`, `ir/a.h`, `a_*.cpp`, `sub/b.cpp`, `b.cpp`\n",
                               "ir/a.h": "#pragma once\n", "ir/a_more.cpp": "\n", "ir/sub/b.cpp": "\n"})
        self.assertEqual(code, 0, out)

    def test_operator_names(self):
        library = "/// doc\nop relu(x: T[d..]) -> (y: T[d..]) {}\nextern op smooth(x: f32[n]) -> (y: f32[n]) {}\n"
        for folder in ("ir", "passes", "check", "backend"):
            self.refused({"lib/std.tap": library, f"{folder}/a.cpp": 'if (op.name == "relu") {}\n'},
                         f'{folder}/a.cpp:1: "relu" is an operator')
        self.refused({"lib/std.tap": library, "ir/a.cpp": 'auto s = "smooth";\n'}, '"smooth" is an operator')


if __name__ == "__main__":
    unittest.main()
