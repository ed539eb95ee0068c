#!/usr/bin/python3
"""Man pages are made from the help of tapc: a page for each command, with all of its options, which groff accepts."""
import re
import shutil

from tapc import *


class ManPages(TapcTest):
    def test_every_command_has_a_page(self):
        subprocess.run(["/usr/bin/python3", ROOT / "scripts/man_pages.py", TAPC, self.folder], check=True, timeout=120)
        listed = self.tapc("--help").stdout.decode()
        commands = re.findall(r"(?m)^  ([a-z]+) {2,}", re.split(r"(?i)subcommands:", listed)[1])
        self.assertGreaterEqual(len(commands), 10)
        for command in commands:
            name = "tapc-check-command" if command == "check" else f"tapc-{command}"
            page = (self.folder / f"{name}.1").read_text().replace("\\-", "-")
            for option in re.findall(r"(?m)^  -?-?\w?,?(--[\w-]+)", self.tapc(command, "--help").stdout.decode()):
                self.assertIn(option, page)
        self.assertIn("tapc-check", (self.folder / "tapc-check.1").read_text().replace("\\-", "-"))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_accepts_them(self):
        subprocess.run(["/usr/bin/python3", ROOT / "scripts/man_pages.py", TAPC, self.folder], check=True, timeout=120)
        for page in sorted(self.folder.glob("*.1")):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)


if __name__ == "__main__":
    unittest.main()
