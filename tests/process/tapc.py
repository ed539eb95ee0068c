"""What the process tests share: running tapc under limits, and a folder of its own for each test."""
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TAPC = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/forks"))
import forks  # noqa: E402
SANITIZED = "asan" in str(TAPC) or "tsan" in str(TAPC)  # sanitizers reserve terabytes of addresses

SANITIZER = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
SLOWNESS = 20 if SANITIZED else 1

# The usual passes, and groups that move the fewest bytes, whether or not the cost model would choose them.
FUSED = ["--passes=inline_calls,simplify_graph,simplify_cells,share_equal_operations,remove_dead_code,offer_choices,"
         "pick_choices,compose_maps,simplify_cells,share_equal_operations,remove_dead_code,fuse_auto"]

DOUBLE = "op double(x: f32[n]) -> (y: f32[n]) { y[i] = 2 * x[i] }\n"
PROGRAM = "program main(X: f32[4]) -> (Y: f32[4]) { Y[i] = 2 * X[i] }\n"


def option(name, otherwise):
    """The number after this option, which is removed from the command line of unittest."""
    if name not in sys.argv:
        return otherwise
    at = sys.argv.index(name)
    value = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return value


def without_written(output):
    """Messages without the line that lists written files."""
    return re.sub(r"^wrote `.*\n", "", output, flags=re.M)


class TapcTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="tap-process-")
        self.folder = Path(self._folder.name)

    def tearDown(self):
        # A test may have taken rights away; and processes of MPI remove their own files a little later, at the same time as we do.
        for parent, folders, _ in os.walk(self.folder):
            for name in folders:
                with contextlib.suppress(FileNotFoundError):
                    if not os.path.islink(path := os.path.join(parent, name)):
                        os.chmod(path, 0o755)
        for _ in range(20):
            with contextlib.suppress(OSError):
                return self._folder.cleanup()
            time.sleep(0.05)
        self._folder.cleanup()

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def tapc(self, *arguments, memory=None, timeout=20, environment=None, before=None, **options):
        """Runs in the test's folder. G1: whatever happens, no signal, no uncaught exception, no internal error."""
        env = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "TMPDIR": str(self.folder),
               "TAPC_SELF_CHECK": "thorough"}
        env.update({name: os.environ[name] for name in os.environ if name.startswith("TAP_MUTANT")})  # tests/mutation
        env.update(SANITIZER)
        env.update(environment or {})
        result = forks.run([TAPC, *arguments], cwd=self.folder, env=env, timeout=timeout * SLOWNESS, memory=memory, before=before, **options)
        output = (result.stderr or b"").decode(errors="replace")
        self.assertGreaterEqual(result.returncode, 0, f"died of signal {-result.returncode}: {output}")
        self.assertNotEqual(result.returncode, 70, output)
        self.assertNotIn("internal error", output)
        self.assertNotIn("terminate called", output)
        result.output = output
        return result

    def expect(self, code, pattern, *arguments, **options):
        """Checks exit code and messages; the line that lists written files is ignored unless the pattern contains "wrote"."""
        result = self.tapc(*arguments, **options)
        self.assertEqual(result.returncode, code, result.output[:2000])
        self.assertRegex(result.output if "wrote" in pattern else without_written(result.output), pattern)
        return result

    def files(self):
        """The files in the test's folder (also its home) without caches."""
        return [path for path in sorted(self.folder.iterdir()) if path.name != ".cache"]

    def assertNoTemporaries(self):
        self.assertEqual([p.name for p in self.folder.rglob(".tapc*")], [])


GIB = 1 << 30
__all__ = ["DOUBLE", "FUSED", "GIB", "PROGRAM", "ROOT", "SANITIZED", "SANITIZER", "SLOWNESS", "TAPC", "TapcTest", "forks", "option", "os", "resource", "signal",
           "subprocess", "sys", "unittest", "without_written"]
