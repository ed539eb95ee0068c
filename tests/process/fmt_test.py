#!/usr/bin/python3
"""tapc fmt: in place and whole, idempotent, and it keeps the meaning of every source there is."""
import stat

from tapc import *

SOURCES = sorted([*(ROOT / "examples").glob("*.tap"), ROOT / "lib/std.tap"])
UNEVEN = b"// head\nop f( x :f32[n] )->( y: f32[n]){ y[i]=x[ i ]*2 // twice\n}\n"


class Fmt(TapcTest):
    def test_our_own_sources_are_formatted(self):
        result = self.tapc("fmt", "--check", *SOURCES)
        self.assertEqual((result.returncode, result.stdout.decode(), result.told), (0, "", ""))

    def test_in_place_and_idempotent(self):
        self.write("a.tap", UNEVEN)
        (self.folder / "a.tap").chmod(0o640)
        self.expect(0, r"^$", "fmt", "a.tap")
        once = (self.folder / "a.tap").read_bytes()
        self.assertIn(b"y[i] = x[i] * 2  // twice\n", once)
        self.assertEqual(stat.S_IMODE((self.folder / "a.tap").stat().st_mode), 0o640)
        self.expect(0, r"^$", "fmt", "a.tap")
        self.assertEqual((self.folder / "a.tap").read_bytes(), once)
        self.assertNoTemporaries()

    def test_check_writes_nothing(self):
        self.write("a.tap", UNEVEN)
        self.write("b.tap", "op f(x: f32[n]) -> (y: f32[n]) { y[i] = x[i] }\n")
        result = self.tapc("fmt", "--check", "a.tap", "b.tap")
        self.assertEqual((result.returncode, result.stdout), (1, b"a.tap\n"))
        self.assertEqual((self.folder / "a.tap").read_bytes(), UNEVEN)

    def test_a_link_stays_a_link(self):
        self.write("a.tap", UNEVEN)
        os.symlink("a.tap", self.folder / "b.tap")
        self.expect(0, r"^$", "fmt", "b.tap")
        self.assertTrue((self.folder / "b.tap").is_symlink())
        self.assertNotEqual((self.folder / "a.tap").read_bytes(), UNEVEN)

    def test_what_does_not_parse_is_left_alone(self):
        self.write("a.tap", "op f(\n")
        self.write("b.tap", UNEVEN)
        self.expect(1, r"a\.tap:1:\d+: error\[T01", "fmt", "a.tap", "b.tap")
        self.assertEqual((self.folder / "a.tap").read_text(), "op f(\n")
        self.assertNotEqual((self.folder / "b.tap").read_bytes(), UNEVEN)

    def test_meaning_is_kept(self):
        for source in SOURCES:
            if source.name == "std.tap":
                continue
            squeezed = "\n".join(line.strip() for line in source.read_text().split("\n"))
            before = self.tapc("inspect", self.write("a.tap", squeezed),
                               *(("--program", "fused") if source.name == "attention.tap" else ()))
            self.expect(0, r"^$", "fmt", "a.tap")
            after = self.tapc("inspect", "a.tap", *(("--program", "fused") if source.name == "attention.tap" else ()))
            self.assertEqual(before.stdout, after.stdout)


if __name__ == "__main__":
    unittest.main()
