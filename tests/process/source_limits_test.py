#!/usr/bin/python3
"""A08, A09, A14, A18: sources that are huge, deep, cut off or no text at all are refused or accepted in bounded time."""
import random

from tapc import *

EIGHT = 10 * GIB  # of addresses: LLVM and the standard library alone map a good part of one


class SourceLimits(TapcTest):
    def check(self, code, pattern, text):
        return self.expect(code, pattern, "check", self.write("a.tap", text), memory=EIGHT, timeout=20)

    def expression(self, text):
        return "op f(x: f32[n]) -> (y: f32[n]) { y[i] = " + text + " }\n" + "program p(X: f32[4]) -> (Y: f32[4]) { Y = f(X) }\n"

    def test_a08_line_of_10_megabytes(self):
        result = self.check(1, r"a\.tap:1:\d+: error\[T0203\]",
                            self.expression("x[i] " + "+ x[i]" + " " * 10_000_000 + "+ z[i]"))
        self.assertLess(len(result.output), 2000)

    def test_a08_token_of_a_megabyte(self):
        result = self.check(1, r"error\[T\d+\]", self.expression("a" * 1_000_000 + "[i]"))
        self.assertLess(len(result.output), 8000)
        self.check(1, r"error\[T0106\]", self.expression("1" * 1_000_000))

    def test_a08_nested_parentheses(self):
        self.check(1, r"error\[T0105\]: .*256", self.expression("(" * 100_000 + "x[i]" + ")" * 100_000))
        self.check(0, r"^$", self.expression("(" * 100 + "x[i]" + ")" * 100))

    def test_a08_unary_minus(self):
        self.check(1, r"error\[T0105\]: .*256", self.expression("- " * 100_000 + "x[i]"))

    def test_a08_nesting_of_other_kinds(self):
        deep = 100_000
        for text in ("not " * deep + "true", "if true then 1 else " * deep + "1", "let a = 1 in " * deep + "a",
                     "f(" * deep + "x" + ")" * deep,
                     "x[" * deep + "i" + "]" * deep, "sum[k] " * deep + "x[k]"):
            with self.subTest(text[:12]):
                self.check(1, r"error\[T0105\]", self.expression(text))

    def test_a08_long_but_not_deep(self):
        self.check(0, r"^$", self.expression("x[i]" + " + x[i]" * 200))

    def test_a08_shared_parts(self):
        """Forty links, each of which uses the one before it twice: 2^40 parts if any stage took the cells for a tree."""
        def chain(first, link, last):
            lets = ", ".join(f"a{k} = " + link.replace("A", f"a{k - 1}") for k in range(1, 41))
            return f"let a0 = {first}, {lets} in {last.replace('A', 'a40')}"
        forms = [chain("x[i]", "if A > 3 then A * 0.5 else A + 2", "A"),
                 chain("x[i] > 3", "A and not (A and x[i] > 9)", "if A then 1 else 0"),
                 chain("i > 0", "(A and i > 0) or (A and i < 9)", "if A then x[i - 1] else 0"),
                 chain("i", "A + A - i", "x[A]"),
                 chain("i", "if A > 1 then t[A, A] else A", "x[A]"), "leaky_relu<0.5>(" * 40 + "x[i]" + ")" * 40,
                 chain("x[i]", "x[i - 1 else A] + x[i + 1 else A]", "A"),
                 chain("x[i]", "x[t[i, 1] - 1 else A] - x[t[0, i] else A] * 0.5", "A"),
                 chain("i", "(if i > 1 then A / i else 1) + (if i < 2 then 7 / (A + 9) else 2)", "f32(A)"),
                 chain("x[t[i, 0]] > 3", "(i > 0 and A) == (i < 2 and (x[i + 1 else 0] > 9 or A))",
                       "if A then 1 else 0"),
                 chain("i", "if (if i > 1 then t[A, A] > 0 else true) then t[A, A] else A", "x[A]"),
                 chain("x[i]", "if (if i > 0 then x[i - 1] + A else 1) > 0 then (if i > 0 then x[i - 1] - A else A) else 3", "A")]
        for form in forms:
            text = f"use std\nprogram p(x: f32[4], t: i64[4, 4]) -> (y: f32[4], z: i64[]) {{ y[i] = {form}; z[] = t[0, 0] + i64(x[0]) }}\n"
            for engine in ("native", "interp"):
                with self.subTest(form[:60], engine=engine):
                    self.expect(0, r"^$", "run", self.write("a.tap", text), "--engine", engine, "-i",
                                "x=[3, 4, -5, 10]",
                                "-i", "t=[[0,1,2,3],[3,2,1,0],[0,0,1,1],[2,2,3,3]]", memory=EIGHT, timeout=20)

    def test_a08_calls_that_double(self):
        """Twenty operators, each of which calls the one before it twice: 2^20 operations if they were written out."""
        def doubling(levels):
            operators = "".join(f"op g{k}(x: f32[n]) -> (y: f32[n]) {{ y = g{k - 1}(g{k - 1}(x)) }}\n"
                                for k in range(1, levels + 1))
            program = f"program p(X: f32[4]) -> (Y: f32[4]) {{ Y = g{levels}(X) }}\n"
            return "op g0(x: f32[n]) -> (y: f32[n]) { y[i] = x[i] * 0.5 + 1 }\n" + operators + program
        output = r"a\.tap:20:\d+: error\[T0105\]: `g19` expands to 524288 operations .*500000"
        self.check(1, output, doubling(20))
        self.expect(1, output, "run", self.write("a.tap", doubling(60)), "-i", "X=[1,2,3,4]", memory=EIGHT, timeout=20)
        self.expect(0, r"^$", "run", self.write("a.tap", doubling(12)), "-i", "X=[1,2,3,4]", memory=EIGHT, timeout=20)

    def test_a09_ten_to_the_1000(self):
        self.check(1, r"error\[T0106\]", self.expression("1" + "0" * 1000))

    def test_a_file_above_the_limit(self):
        os.truncate(self.folder / self.write("a.tap", ""), 257 << 20)  # sparse: nothing is stored
        self.expect(1, r"error\[T0112\]: `a\.tap` is larger than 256 MiB", "check", "a.tap", timeout=10)

    def seconds(self, text):
        """Checks a long program within 2 GiB; the processor seconds that it took."""
        name = self.write("long.tap", text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.expect(0, r"^$", "check", name, memory=EIGHT, timeout=120)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_maxrss, 2 << 20, "KiB")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def linear(self, make, count):
        """At most 60 s, and at most 2.5 times as long as half of the program takes (and a little, for noise)."""
        if SANITIZED:
            count //= 20
        once, twice = self.seconds(make(count // 2)), self.seconds(make(count))
        self.assertLess(twice, 60)
        self.assertLess(twice, 2.5 * once + 0.5)

    def test_a14_long_chain(self):
        def chain(n):
            lines = "".join(f"    A{k}[i] = A{k - 1}[i] + {k % 7}\n" for k in range(1, n + 1))
            return "program p(A0: f32[4]) -> (Y: f32[4]) {\n" + lines + f"    Y[i] = A{n}[i]\n}}\n"
        self.linear(chain, 100_000)

    def test_a14_many_readers(self):
        def readers(n):
            lines = "".join(f"    _A{k}[i] = X[i] + {k % 7}\n" for k in range(n))
            return "program p(X: f32[4]) -> (Y: f32[4]) {\n" + lines + f"    Y[i] = _A{n - 1}[i]\n}}\n"
        self.linear(readers, 100_000)

    def test_a14_many_calls_of_distinct_operators(self):
        def calls(n):
            operators = "".join(f"op add_{k}(x: f32[n]) -> (y: f32[n]) {{ y[i] = x[i] + {k} }}\n" for k in range(2000))
            lines = "".join(f"    A{k} = add_{k % 2000}(A{k - 1})\n" for k in range(1, n + 1))
            return operators + "program p(A0: f32[4]) -> (Y: f32[4]) {\n" + lines + f"    Y = A{n}\n}}\n"
        self.linear(calls, 100_000)

    def test_a14_many_outputs(self):
        def outputs(n):
            results = ", ".join(f"Y{k}: f32[4]" for k in range(n))
            lines = "".join(f"    Y{k}[i] = X[i] + {k % 7}\n" for k in range(n))
            return f"program p(X: f32[4]) -> ({results}) {{\n{lines}}}\n"
        self.linear(outputs, 10_000)

    def test_a18_truncated_at_every_byte(self):
        text = ("use std\ndim n = 4\n/// Doc.\nop f<k: int = 2>(x: T[d.., m]) -> (y: T[d.., m]) where T: float {\n"
                "    s[i..]    = sum[j] exp(x[i.., j]) * 1.5\n    y[i.., j] = x[i.., j else 0] / s[i..] // é\n}\n"
                "program p(X: f32[n, 3]) -> (Y: f32[n, 3]) { Y = iterate 3 (v = X) { f<k = 3>(v) } }\n").encode()
        for end in range(0, len(text), 1 if not SANITIZED else 17):
            result = self.tapc("check", self.write("a.tap", text[:end]), memory=EIGHT)
            self.assertIn(result.returncode, (0, 1), f"cut at {end}: {result.output}")
            self.assertEqual(result.returncode == 1, "error[" in result.output, f"cut at {end}")

    def test_a18_random_bytes(self):
        seed = 20
        draw = random.Random(seed)
        for k in range(100):
            data = bytes(draw.choice(b"()[]{}<>,;:=+-*/.@#\"'/\\ \n\0\x80\xffopxyi0123456789")
                         for _ in range(draw.randrange(1, 300)))
            result = self.tapc("check", self.write("a.tap", data), memory=EIGHT)
            self.assertEqual(result.returncode, 1, f"seed {seed}, case {k}: {data!r} {result.output}")


if __name__ == "__main__":
    unittest.main()
