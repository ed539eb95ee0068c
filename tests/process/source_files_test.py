#!/usr/bin/python3
"""A15, A16: what is no readable regular file is refused with the system's reason, and never waited for."""
from tapc import *


class SourceFiles(TapcTest):
    def test_a16_missing(self):
        self.expect(2, r"error\[T1004\]: `none\.tap` cannot be read: No such file or directory", "check", "none.tap")

    def test_a16_directory(self):
        (self.folder / "d.tap").mkdir()
        self.expect(2, r"error\[T1005\]: `d\.tap` is a directory", "check", "d.tap")

    def test_a16_fifo(self):
        os.mkfifo(self.folder / "f.tap")
        self.expect(2, r"error\[T1005\]: `f\.tap` is a pipe", "check", "f.tap", timeout=5)

    def test_a16_device(self):
        self.expect(2, r"error\[T1005\]: `/dev/zero` is a device", "check", "/dev/zero", timeout=5)

    def test_a16_unreadable(self):
        os.chmod(self.folder / self.write("a.tap", DOUBLE), 0)
        self.folder.chmod(0o755)
        nobody = (lambda: os.setuid(65534)) if os.geteuid() == 0 else None  # root may read everything
        self.expect(4, r"error\[T1004\]: `a\.tap` cannot be read: Permission denied", "check", "a.tap", before=nobody)

    def test_a16_closed_standard_input(self):
        self.expect(2, r"error\[T100[45]\]", "check", "/dev/stdin", stdin=None, before=lambda: os.close(0), timeout=5)

    def test_a16_name_of_300_bytes(self):
        self.expect(2, r"File name too long", "check", "a" * 300 + ".tap")

    def test_links_are_followed(self):
        self.write("a.tap", DOUBLE)
        os.symlink("a.tap", self.folder / "b.tap")
        os.symlink("c.tap", self.folder / "c.tap")
        self.expect(0, r"^$", "check", "b.tap")
        self.expect(2, r"T1004", "check", "c.tap")

    def test_several_files_are_all_checked(self):
        self.write("good.tap", DOUBLE)
        self.write("bad.tap", "op f(x: f32[n]) -> (y: f32[n]) { y[i] = z[i] }\n")
        result = self.expect(2, r"bad\.tap:1:\d+: error\[T0203\]", "check", "bad.tap", "none.tap", "good.tap")
        self.assertIn("none.tap", result.output)

    def test_a15_self_and_cycle(self):
        self.write("a.tap", "use a\n" + DOUBLE)
        self.expect(1, r"error\[T0206\]", "check", "a.tap")
        self.write("b.tap", "use c\n" + DOUBLE)
        self.write("c.tap", "use b\n" + DOUBLE.replace("double", "twice"))
        self.expect(1, r"error\[T0206\].*", "check", "b.tap")

    def test_a15_modules_that_are_not_files(self):
        (self.folder / "d.tap").mkdir()
        os.mkfifo(self.folder / "f.tap")
        os.symlink("/dev/zero", self.folder / "z.tap")
        for name in "dfz":
            with self.subTest(name):
                self.expect(1, r"error\[T0206\]", "check", self.write("a.tap", f"use {name}\n" + DOUBLE), timeout=5)

    def test_a15_modules_are_next_to_the_file(self):
        for name in ("../secret", "/etc/passwd", "sub.secret", "..secret"):
            with self.subTest(name):
                self.expect(1, r"error\[T0(109|206)\]", "check", self.write("a.tap", f"use {name}\n" + DOUBLE))

    def test_a15_links(self):
        (self.folder / "in").mkdir()
        self.write("secret.tap", "secret words\n")
        os.symlink("/etc/passwd", self.folder / "in/pw.tap")
        os.symlink("../secret.tap", self.folder / "in/up.tap")
        os.symlink("loop.tap", self.folder / "in/loop.tap")
        for name in ("pw", "up", "loop"):
            with self.subTest(name):
                self.write("in/a.tap", f"use {name}\n" + DOUBLE)
                result = self.expect(1, r"error\[T0206\]", "check", "in/a.tap")
                self.assertNotIn("root:", result.output)
                self.assertNotIn("secret words", result.output)
        self.write("in/mine.tap", DOUBLE)
        os.symlink("mine.tap", self.folder / "in/other.tap")
        self.write("in/a.tap", "use other\nprogram p(X: f32[4]) -> (Y: f32[4]) { Y = double(X) }\n")
        self.expect(0, r"^$", "check", "in/a.tap")

    def test_modules_are_found_relative_to_the_file(self):
        (self.folder / "sub").mkdir()
        self.write("sub/mine.tap", DOUBLE)
        self.write("sub/a.tap", "use mine\nprogram p(X: f32[4]) -> (Y: f32[4]) { Y = double(X) }\n")
        self.expect(0, r"^$", "check", "sub/a.tap")


if __name__ == "__main__":
    unittest.main()
