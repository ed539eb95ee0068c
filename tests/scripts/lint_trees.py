"""For tests of lints: runs the one that the command line names on a tree of files, made for the purpose."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINT = Path(sys.argv.pop(1)).resolve()


class LintedTrees(unittest.TestCase):
    def lint(self, files):
        with tempfile.TemporaryDirectory() as name:
            for path, text in files.items():
                target = Path(name) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            result = subprocess.run([sys.executable, LINT, name], capture_output=True, text=True)
            return result.returncode, result.stdout
