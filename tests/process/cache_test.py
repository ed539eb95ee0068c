#!/usr/bin/python3
"""The cache of compiled kernels: rows G05 to G09 of the bad inputs."""
import hashlib
import random
import shutil
import time
from pathlib import Path

from tapc import *

SEVERAL = """use std
program main(X: f32[8, 9]) -> (Y: f32[8, 9], Z: f32[8], W: f64[3], V: i32[5]) {
    Y = softmax(X)
    Z[i] = max[k] X[i, k] * X[i, k]
    W[i] = sum[k in 0..9] f64(X[i, k]) for i in 0..3
    V[i] = i32(100 * X[i, 2]) % 7 for i in 0..5
}
"""
ENTRY_REMOVED = r"warning\[T1204\]: `.*\.kernel` was removed from the kernel cache: "


class CacheTest(TapcTest):
    def setUp(self):
        super().setUp()
        self.write("a.tap", SEVERAL)
        self.cache = self.folder / "kernels"

    def run_program(self, *more, out="y.npz", **options):
        """The bytes of the results, and the messages."""
        result = self.tapc("run", "a.tap", "-i", "X=rand:1", "-o", f"@{out}", "--cache-dir", "kernels", *more, **options)
        self.assertEqual(result.returncode, 0, result.output)
        return (self.folder / out).read_bytes(), without_written(result.output)

    def entries(self):
        return sorted(self.cache.glob("*.kernel")) if self.cache.exists() else []

    def contents(self):
        return {path.name: path.read_bytes() for path in self.entries()}

    def without_cache(self):
        result = self.tapc("run", "a.tap", "-i", "X=rand:1", "-o", "@plain.npz", "--no-cache")
        self.assertEqual(result.returncode, 0, result.output)
        return (self.folder / "plain.npz").read_bytes()

    def assertWholeCache(self):
        """Every entry matches its first line, and there are no other files."""
        for path in self.cache.iterdir():
            head, _, content = path.read_bytes().partition(b"\n")
            self.assertRegex(path.name, r"^[0-9a-f]{64}\.kernel$")
            digest = hashlib.sha256(len(content).to_bytes(8, "little") + content).hexdigest()
            self.assertEqual(head.decode(), f"tapc kernel 1 {path.stem} {digest}")
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_the_same_bytes_with_and_without(self):
        expected = self.without_cache()
        self.assertEqual(self.entries(), [])
        self.assertEqual(self.run_program(), (expected, ""))
        first = self.contents()
        self.assertGreaterEqual(len(first), 3)
        self.assertWholeCache()
        self.assertEqual(self.run_program(), (expected, ""))
        self.assertEqual(self.contents(), first)
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)

    def library(self, *more, check="thorough"):
        own = {"XDG_CACHE_HOME": str(self.folder / "own"), "TAPC_SELF_CHECK": check}
        self.expect(0, "^$", "compile", "a.tap", "-o", "a.so", *more, environment=own)
        return (self.folder / "a.so").read_bytes()

    def test_kernels_of_libraries(self):
        self.cache = self.folder / "own/tapc/kernels"
        plain = self.library("--no-cache")
        self.assertEqual(self.entries(), [])
        self.assertEqual(self.library(), plain)
        kernels = self.contents()
        self.assertGreaterEqual(len(kernels), 3)
        self.assertWholeCache()
        self.assertEqual(self.library(), plain)
        self.assertNotEqual(self.library("--name", "other"), plain)
        self.assertNotEqual(self.library("--emit=llvm"), b"")
        self.assertIn(b"define", (self.folder / "a.ll").read_bytes())
        own = {"XDG_CACHE_HOME": str(self.folder / "own"), "TAPC_SELF_CHECK": "thorough"}
        self.expect(0, "^$", "run", "a.tap", "-i", "X=rand:1", "-o", "@y.npz", environment=own)
        self.assertEqual(self.contents(), kernels)  # a run has the same ones
        self.library("--no-self-check", check="")  # what was not tested is another entry
        self.assertEqual(len(self.entries()), 2 * len(kernels))
        # They are read: with the code of another kernel in its place, one is missing.
        content = self.entries()[1].read_bytes().partition(b"\n")[2]
        digest = hashlib.sha256(len(content).to_bytes(8, "little") + content).hexdigest()
        for entry in self.entries():
            entry.write_bytes(f"tapc kernel 1 {entry.stem} {digest}\n".encode() + content)
        self.assertNotEqual(self.tapc("compile", "a.tap", "-o", "a.so", environment=own).returncode, 0)
        self.assertEqual(self.library("--no-cache"), plain)

    def test_names_make_no_new_entries(self):
        self.run_program()
        first = self.contents()
        self.write("a.tap", SEVERAL.replace("[i", "[row").replace("for i", "for row").replace("(X", "(Input").replace(" X[", " Input[").replace("(X[", "(Input["))
        text = (self.folder / "a.tap").read_text().replace("i32(100 * X", "i32(100 * Input").replace("softmax(X)", "softmax(Input)")
        self.write("a.tap", text)
        result = self.tapc("run", "a.tap", "-i", "Input=rand:1", "--cache-dir", "kernels")
        self.assertEqual(result.returncode, 0, result.output)
        self.assertEqual(self.contents(), first)

    def test_cache_location(self):
        arguments = "run", "a.tap", "-i", "X=rand:1", "-o", "@y.npz"
        self.expect(0, "^$", *arguments, environment={"XDG_CACHE_HOME": str(self.folder / "xdg")})
        self.assertTrue(list((self.folder / "xdg/tapc/kernels").glob("*.kernel")))
        self.expect(0, "^$", *arguments)
        self.assertTrue(list((self.folder / ".cache/tapc/kernels").glob("*.kernel")))
        shutil.rmtree(self.folder / ".cache")
        for environment in ({"HOME": ""}, {"HOME": "relative", "XDG_CACHE_HOME": "relative"}):
            self.expect(0, "^$", *arguments, environment=environment)
            self.assertEqual(list(self.folder.rglob("relative")), [])

    def test_g06_killed_and_run_again(self):
        expected = self.without_cache()
        random.seed(6)
        begin = time.monotonic()
        self.without_cache()
        whole = time.monotonic() - begin
        for _ in range(25):
            shutil.rmtree(self.cache, ignore_errors=True)
            process = subprocess.Popen([TAPC, "run", "a.tap", "-i", "X=rand:1", "-o", "@y.npz", "--cache-dir", "kernels"],
                                       cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            time.sleep(random.uniform(0, 1.2) * whole)
            process.kill()
            process.communicate()
            self.assertEqual(self.run_program(), (expected, ""))
            if self.entries():
                self.assertWholeCache()

    def test_g06_leftovers_of_a_killed_run_are_removed(self):
        """Temporaries are called .tapc-HOST-PROCESS-START-COUNT.tmp (runtime/temporary_name.h)."""
        host = 2166136261
        for part in (os.uname().nodename, os.readlink("/proc/self/ns/pid")):
            for byte in part.encode():
                host = (host ^ byte) * 16777619 % 2**32
            host = host * 16777619 % 2**32
        start = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        finished = subprocess.Popen(["true"])
        finished.wait()
        not_waited_for = subprocess.Popen(["true"])
        os.waitid(os.P_PID, not_waited_for.pid, os.WEXITED | os.WNOWAIT)
        self.cache.mkdir(mode=0o700)
        own = f".tapc-{host:08x}-{os.getpid()}-{start}-0.tmp"
        others = [f".tapc-{host:08x}-{process}-0.tmp" for process in (
            f"{finished.pid}-{start}", f"{not_waited_for.pid}-{start}", f"{os.getpid()}-{start + 1}")]
        for name in (own, *others):
            (self.cache / name).write_text("a part")
        self.run_program()
        self.assertEqual([p.name for p in self.cache.glob(".tapc*")], [own])
        not_waited_for.wait()

    def test_g05_stopped_at_random_moments(self):
        expected = self.without_cache()
        random.seed(5)
        for turn in range(20):
            shutil.rmtree(self.cache, ignore_errors=True)
            number = (signal.SIGINT, signal.SIGTERM)[turn % 2]
            process = subprocess.Popen([TAPC, "run", "a.tap", "-i", "X=rand:1", "-o", "@y.npz", "--cache-dir", "kernels"],
                                       cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            time.sleep(random.uniform(0.005, 0.4))
            process.send_signal(number)
            begin = time.monotonic()
            output = process.communicate(timeout=20)[1]
            self.assertLess(time.monotonic() - begin, 2)
            self.assertIn(process.returncode, (0, 128 + number, -number), output)  # it was done; stopped; before main
            self.assertNoTemporaries()
            if (self.folder / "y.npz").exists():
                self.assertEqual((self.folder / "y.npz").read_bytes(), expected)
                (self.folder / "y.npz").unlink()

    def test_g07_several_at_once(self):
        expected = self.without_cache()
        for count in (2, 16):
            shutil.rmtree(self.cache, ignore_errors=True)
            processes = [subprocess.Popen([TAPC, "run", "a.tap", "-i", "X=rand:1", "-o", "@y.npz", "--cache-dir", "kernels"],
                                          cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT) for _ in range(count)]
            for process in processes:
                self.assertEqual(without_written(process.communicate(timeout=120)[0].decode()), "")
                self.assertEqual(process.returncode, 0)
            self.assertEqual((self.folder / "y.npz").read_bytes(), expected)
            self.assertWholeCache()
            self.assertNoTemporaries()

    def check_damaged_entry(self, damage, why):
        """An entry changed by `damage` is dropped with a warning and rebuilt."""
        expected = self.run_program()[0]
        before = self.contents()
        entry = self.entries()[1]
        damage(entry)
        results, output = self.run_program()
        self.assertEqual(results, expected)
        self.assertRegex(output, ENTRY_REMOVED + why)
        self.assertEqual(output.count("T1204"), 1)
        self.assertEqual(self.contents(), before)
        self.assertEqual(self.run_program(), (expected, ""))

    def test_g08_damaged_entries(self):
        def truncated(entry):
            entry.write_bytes(entry.read_bytes()[:-7])

        def emptied(entry):
            entry.write_bytes(b"")

        def flipped(entry):
            bytes_ = bytearray(entry.read_bytes())
            bytes_[len(bytes_) // 2] ^= 4
            entry.write_bytes(bytes_)

        def replaced(entry):
            entry.write_bytes(self.entries()[0].read_bytes())

        def newer(entry):
            entry.write_bytes(entry.read_bytes().replace(b"tapc kernel 1 ", b"tapc kernel 2 ", 1))

        for damage in (truncated, emptied, flipped, replaced, newer):
            with self.subTest(damage.__name__):
                self.check_damaged_entry(damage, "its content was changed")

    def test_g08_every_byte_of_an_entry_counts(self):
        self.run_program()
        entry = self.entries()[0]
        good = entry.read_bytes()
        random.seed(8)
        for at in [0, 13, 14, 15, 100, 140, *random.sample(range(len(good)), 12)]:
            entry.write_bytes(good[:at] + bytes([good[at] ^ 1 << random.randrange(8)]) + good[at + 1:])
            self.assertRegex(self.run_program()[1], ENTRY_REMOVED)
            self.assertEqual(entry.read_bytes(), good)

    def test_g08_entries_writable_by_others(self):
        self.check_damaged_entry(lambda entry: entry.chmod(0o666), "others can write to it")

        def directory(entry):
            entry.unlink()
            entry.mkdir()
        expected = self.run_program()[0]
        directory(self.entries()[0])
        results, output = self.run_program()
        self.assertEqual(results, expected)
        self.assertRegex(output, ENTRY_REMOVED + "it is not a regular file")

    def test_g09_a_link_is_not_followed(self):
        self.write("victim", "precious")
        self.check_damaged_entry(lambda entry: (entry.unlink(), entry.symlink_to(self.folder / "victim")), "it is a symbolic link")
        self.assertEqual((self.folder / "victim").read_text(), "precious")

    def test_g08_a_folder_writable_by_others(self):
        expected = self.without_cache()
        self.cache.mkdir()
        for mode in (0o777, 0o770, 0o702):
            self.cache.chmod(mode)
            results, output = self.run_program()
            self.assertEqual(results, expected)
            self.assertRegex(output, r"^tapc: warning\[T1204\]: the kernel cache `kernels` is not used: others can write to it")
            self.assertEqual(output.count("T1204"), 1)
            self.assertEqual(list(self.cache.iterdir()), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder away")
    def test_g08_a_folder_of_another_user(self):
        self.cache.mkdir(mode=0o700)
        os.chown(self.cache, 12345, -1)
        self.assertRegex(self.run_program()[1], r"^tapc: warning\[T1204\]: the kernel cache `kernels` is not used: it belongs to another user")

    def test_an_impossible_folder(self):
        self.write("file", "no folder")
        for path, why in (("file", "Not a directory"), ("file/kernels", "Not a directory"), ("x" * 300, "File name too long")):
            result = self.tapc("run", "a.tap", "-i", "X=rand:1", "--cache-dir", path)
            self.assertEqual(result.returncode, 0)
            self.assertRegex(result.output, rf"^tapc: warning\[T1204\]: the kernel cache .* cannot be (created|opened): {why}")

    def test_its_size_is_bounded_and_the_oldest_go(self):
        def program(k):
            self.write("a.tap", f"program main(X: f32[8]) -> (Y: f32[8]) {{ Y[i] = {k}.5 * X[i] }}\n")
        program(0)
        self.run_program()
        first = self.entries()[0]
        for k in range(1, 4):  # as large as a third of the bound
            filler = self.cache / f"{k:064x}.kernel"
            filler.write_bytes(bytes(400 << 10))
            os.utime(filler, (k, k))
        self.run_program()  # uses the entry; stores nothing, so nothing is counted
        self.assertEqual(len(self.entries()), 4)
        program(1)
        self.run_program("--cache-size", "1")
        self.assertEqual(len(self.entries()), 4, "the oldest is gone, a new one is there")
        self.assertFalse((self.cache / f"{1:064x}.kernel").exists())
        self.assertTrue(first.exists())
        self.assertLess(sum(path.stat().st_size for path in self.entries()), 1 << 20)

    def test_a_full_disk_stores_nothing_and_runs(self):
        expected = self.without_cache()

        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        result = self.tapc("run", "a.tap", "-i", "X=rand:1", "--cache-dir", "kernels", before=small)
        self.assertEqual(result.returncode, 0, result.output)
        self.assertRegex(result.output, r"^tapc: warning\[T1204\]: the kernel cache `kernels` cannot be written: File too large; "
                         "kernels of this run are not kept")
        self.assertEqual(result.output.count("T1204"), 1)
        self.assertEqual(list(self.cache.iterdir()), [])
        self.assertEqual(self.run_program(), (expected, ""))


if __name__ == "__main__":
    unittest.main()
