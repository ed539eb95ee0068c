#!/usr/bin/python3
"""The changes that mutants.py draws from: what they are made of, and that they compile and do nothing until they are on."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sites import changed, code_of, sites_of  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """#include <algorithm>
#include <cstdio>
#include <string>

void count(int& n, int by) { n = n + by; }

bool inside(int at, int end) {
  if (at < 0 || at >= end) return false;
  return true;
}

int main() {
  int n = 0;
  std::string text = "a < b, return true; // no comment";
  for (int i = 0; i < 10; ++i) {
    if (!inside(i, 8)) continue;
    if (i == 3 && text.size() > 2) break;
    count(n, 1);
    n = std::max(n, i - 1);
  }
  std::printf("%d %d", n, std::min<int>(n, 2));
}
"""


class Sites(unittest.TestCase):
    def test_strings_and_comments_are_no_code(self):
        self.assertEqual(code_of('f("a < b"); // c < d\n1\'000 < x'), "f(       );         \n1'000 < x")
        self.assertFalse([s for s in sites_of("a.cpp", SOURCE) if s.line == 14])

    def test_invariants_are_left_alone(self):
        self.assertFalse(sites_of("a.cpp", "  TAP_CHECK(a < b && c);\n  static_assert(a == b);"))

    def test_every_change_compiles_and_only_one_that_is_on_acts(self):
        sites = sites_of("a.cpp", SOURCE)
        kinds = {s.what for s in sites}
        for kind in ("`<` to `<=`", "`>=` to `>`", "`==` to `!=`", "`||` to true", "`&&` to false", "condition to true",
                     "condition to false", "without `continue`", "without `break`", "without the statement", "1 to 2",
                     "`return true` to the other", "std::max to the other", "std::min to the other", "`-` to `+`"):
            self.assertIn(kind, kinds)
        with tempfile.TemporaryDirectory() as folder:
            program, results = Path(folder) / "a", {}
            taken = {}
            for number, site in enumerate(sites, 1):  # at most one a line: as many builds as the fullest line has changes
                taken.setdefault(sum(s.line == site.line for s in sites[:number - 1]), []).append((number, site))
            for numbered in taken.values():
                Path(folder, "a.cpp").write_text(changed(SOURCE, numbered))
                subprocess.run(["g++", "-std=c++20", "-w", f"-I{ROOT}", "-o", program, f"{folder}/a.cpp"], check=True)

                def answer(on):
                    done = subprocess.run(["timeout", "1", program], capture_output=True, env={"TAP_MUTANT": str(on)})
                    return done.stdout, done.returncode
                self.assertEqual(answer(0), (b"3 2", 0))
                for number, site in numbered:
                    results[site.line, site.what] = answer(number)
        changed_results = [place for place, result in results.items() if result != (b"3 2", 0)]
        self.assertGreater(len(changed_results), len(results) / 2)


if __name__ == "__main__":
    unittest.main()
