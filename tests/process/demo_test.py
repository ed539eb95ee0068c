#!/usr/bin/python3
"""`make demo` shows what it promises, and ends when it does not."""
from tapc import *
from tapc import TAPC


class Demo(TapcTest):
    def demo(self, tapc, code=0):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "TAPC": str(tapc), "OUT": str(self.folder / "out put")}
        result = subprocess.run([ROOT / "scripts/demo.sh"], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_all_parts(self):
        text = self.demo(TAPC)
        parts = text.split("\n== ")
        self.assertEqual([part[:2] for part in parts[1:]], ["1.", "2.", "3.", "4.", "5.", "6.", "7."])
        expected = {1: [r"error\[T0601\]: at i=7 this reads `X\[8\]`", r"help: ", r"\$ tapc check fixed\.tap\n\(the fix is correct"],
                  2: [r"mesh pod \[data: 4, model: 2\], 8 devices", r"\nP +all_reduce \{model\}.*\nD +all_reduce \{model\}.*\n\n.* per device"],
                  3: [r"`X` is annotated with it, at layer\.tap:", r"norm1: f32\[64\], not sharded\n +no annotated sharding propagates to it"],
                  4: [r"\(they agree\)"],
                  5: [r"\ncertificate: \d+ steps, \d{3} obligations proved, \d assumptions"],
                  6: [r"\n<     operation \d+ partial \d+ dim 3.*\n---\n>     operation \d+ partial \d+ dim 0", r"\nrefused reduction-partition: "],
                  7: [r"\$ tapc inspect"]}
        for part, patterns in expected.items():
            for pattern in patterns:
                self.assertRegex(parts[part], pattern)
        self.assertEqual(len([line for line in parts[2].splitlines() if " all_reduce " in line]), 2)
        self.assertIn("<svg", (self.folder / "out put/layer.svg").read_text())
        self.demo(TAPC)  # a second time over the files of the first

    def test_it_stops_at_the_first_failure(self):
        accepts = self.folder / "tapc"
        accepts.write_text("#!/bin/sh\nexit 0\n")
        accepts.chmod(0o755)
        self.assertIn("this should have been refused", self.demo(accepts, code=1))


if __name__ == "__main__":
    unittest.main()
