#!/usr/bin/python3
"""tapc reshard: files hold the slices that NumPy cuts, for all shardings; wrong files are refused. reshard_test.py TAPC"""
import itertools
import json
import random

import numpy

from tapc import *

CODES = {"f8": "F64", "f4": "F32", "f2": "F16", "u2": "BF16", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8", "u1": "U8", "?": "BOOL"}


def safetensors(tensors):
    """`u2` stands for the bits of bf16."""
    header, data = {}, b""
    for name, cells in tensors.items():
        code = CODES[cells.dtype.str.lstrip("<|").replace("b1", "?")]
        header[name] = {"dtype": code, "shape": list(cells.shape), "data_offsets": [len(data), len(data) + cells.nbytes]}
        data += cells.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def read_safetensors(path):
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    types = {code: kind for kind, code in CODES.items()}
    return {name: numpy.frombuffer(data[begin + one["data_offsets"][0]:begin + one["data_offsets"][1]], types[one["dtype"]]).reshape(one["shape"])
            for name, one in json.loads(data[8:begin]).items()}


class Mesh:
    def __init__(self, name, axes, devices=None):
        self.name, self.axes = name, axes  # a list of name and size
        self.count = int(numpy.prod([size for _, size in axes], dtype=int))
        self.devices = devices or list(range(self.count))
        axes = ", ".join(f"{axis}: {size}" for axis, size in axes)
        self.text = f"{name} = [{axes}]" + (f" devices {devices}" if devices else "")

    def coordinate(self, device, axis, sub):
        """Of a device on an axis, or on its part (pre-size, size)."""
        sizes = [size for _, size in self.axes]
        at = numpy.unravel_index(self.devices.index(device), sizes)
        k = [name for name, _ in self.axes].index(axis)
        pre, size = sub or (1, sizes[k])
        return int(at[k]) // (sizes[k] // (pre * size)) % size, size


class Sharding:
    def __init__(self, mesh, dims):
        self.mesh, self.dims = mesh, dims  # for each axis of the tensor, a list of (mesh axis, sub-axis or None)
        def axis(name, sub):
            return name if sub is None else f"{name}:({sub[0]}){sub[1]}"
        self.text = f"{mesh.name}[{', '.join('{' + ', '.join(axis(*a) for a in dim) + '}' for dim in dims)}]"

    def slices(self, shape, device):
        found = []
        for extent, dim in zip(shape, self.dims):
            number, count = 0, 1
            for name, sub in dim:
                coordinate, size = self.mesh.coordinate(device, name, sub)
                number, count = number * size + coordinate, count * size
            block = -(-extent // count)
            found.append(slice(min(number * block, extent), min((number + 1) * block, extent)))
        return tuple(found)

    def divides(self):
        return any(self.mesh.coordinate(0, *axis)[1] > 1 for dim in self.dims for axis in dim)


def random_mesh(draw, name):
    axes = [(axis, draw.choice([1, 2, 2, 3, 4, 6])) for axis in draw.sample("abc", draw.randint(1, 3))]
    mesh = Mesh(name, axes)
    if mesh.count > 24:
        return random_mesh(draw, name)
    return Mesh(name, axes, draw.sample(range(mesh.count), mesh.count)) if draw.random() < 0.3 else mesh


def random_sharding(draw, mesh, rank):
    """Some axes, and parts of axes that are not neighbours, each in some dim."""
    parts = []
    for name, size in mesh.axes:
        if size in (4, 6) and draw.random() < 0.5:
            parts += draw.choice([[(name, (1, 2))], [(name, (2, size // 2))], [(name, (2, size // 2)), (name, (1, 2))]])
        elif draw.random() < 0.8:
            parts.append((name, None))
    dims = [[] for _ in range(rank)]
    for part in parts if rank else []:
        dim = draw.choice(dims)
        before = dim[-1] if dim else None  # y:(1)2 before y:(2)2 would have to be merged
        if not (before and before[0] == part[0] and before[1] and before[1][0] * before[1][1] == part[1][0]):
            dim.append(part)
    return Sharding(mesh, dims)


def draw_cells(draw, kind, shape):
    bits = numpy.random.default_rng(draw.randrange(2**32)).integers(0, 256, int(numpy.prod(shape, dtype=int)) * 8, numpy.uint8)
    if kind == "?":
        return (bits[::8] % 2 == 1).reshape(shape)
    size = numpy.dtype(kind).itemsize
    return bits[:bits.size // 8 * size].view(kind).reshape(shape)  # any bits: also NaN, and infinity


class Reshard(TapcTest):
    def reshard(self, *words, code=0, pattern=".*", **options):
        return self.expect(code, pattern, "reshard", *words, **options)

    def part(self, name, number, count):
        stem, ending = name.rsplit(".", 1)
        return self.folder / f"{stem}-{number:05}-of-{count:05}.{ending}"

    def save(self, name, cells):
        if name.endswith(".npy"):
            numpy.save(self.folder / name, cells)
        else:
            self.write(name, safetensors({"t": cells}))

    def load(self, path):
        return {"": numpy.load(path)} if path.suffix == ".npy" else read_safetensors(path)

    def assert_cells(self, found, expected):
        self.assertEqual((found.dtype, found.shape, found.tobytes()), (expected.dtype, expected.shape, expected.tobytes()))

    def assert_divided(self, name, cells, sharding):
        """Every device's file holds its slice, and nothing else. What is not divided is one file."""
        if not sharding.divides():
            (found,) = self.load(self.folder / name).values()
            return self.assert_cells(found, cells)
        count = sharding.mesh.count
        for device in range(count):
            found = self.load(self.part(name, device + 1, count))
            self.assertEqual(len(found), 1)
            (called, part), = found.items()
            slices = sharding.slices(cells.shape, device)
            self.assert_cells(part, numpy.ascontiguousarray(cells[slices]).reshape(part.shape))
            if called:
                box = "[" + ", ".join(f"{s.start}..{s.stop}" for s in slices) + "]"
                self.assertRegex(called, r"^\w+" + box.replace("[", r"\[") + "$")

    def clear(self):
        for path in self.files():
            path.unlink()

    def test_random_shardings_of_all_types(self):
        """Whole → one sharding → another → whole: every file is the slice that NumPy cuts."""
        draw = random.Random(21)
        for k, kind in zip(range(60), itertools.cycle(CODES)):
            rank = draw.choice([0, 1, 1, 2, 2, 2, 3, 4])
            shape = [draw.choice([0, 1, 2, 3, 5, 7, 8, 9, 12]) if draw.random() < 0.9 else 31 for _ in range(rank)]
            cells = draw_cells(draw, kind, shape)
            meshes = [random_mesh(draw, "pod"), random_mesh(draw, "ring")]
            first, second = (random_sharding(draw, mesh, rank) for mesh in meshes)
            ending = (lambda: ".safetensors") if kind == "u2" else (lambda: draw.choice([".npy", ".safetensors"]))
            names = [stem + ending() for stem in ("whole", "first", "second", "again")]
            declared = ["--mesh", meshes[0].text, "--mesh", meshes[1].text]
            with self.subTest(k=k, kind=kind, shape=shape, first=first.text, second=second.text, meshes=declared, names=names):
                self.save(names[0], cells)
                self.reshard(names[0], "--to", first.text, *declared, "-o", names[1])
                self.assert_divided(names[1], cells, first)
                self.reshard(names[1], "--from", first.text, "--to", second.text, *declared, "-o", names[2])
                self.assert_divided(names[2], cells, second)
                by = ["--from", second.text, *declared] if names[2].endswith(".npy") or draw.random() < 0.5 else []
                self.reshard(names[2], *by, "-o", names[3])
                (found,) = self.load(self.folder / names[3]).values()
                self.assert_cells(found, cells)
                self.assertNoTemporaries()
            self.clear()

    def test_files_of_processes(self):
        cells = numpy.arange(35, dtype="i2").reshape(7, 5)
        numpy.save(self.folder / "x.npy", cells)
        self.reshard("x.npy", "--to", "mesh[{x}, {y}]", "--mesh", "x=3,y=2", "--processes", "4", "-o", "y.safetensors:t")
        of_process = [[0, 1], [2, 3], [4], [5]]  # devices in order, the first processes have one more
        for process, devices in enumerate(of_process):
            found = read_safetensors(self.part("y.safetensors", process + 1, 4))
            boxes = {f"t[{3 * (d // 2)}..{min(3 * (d // 2) + 3, 7)}, {3 * (d % 2)}..{min(3 * (d % 2) + 3, 5)}]": d for d in devices}
            self.assertEqual(set(found), set(boxes))
            for name, device in boxes.items():
                i, j = 3 * (device // 2), 3 * (device % 2)
                self.assert_cells(found[name], numpy.ascontiguousarray(cells[i:i + 3, j:j + 3]))
        self.reshard("y.safetensors", "-o", "z.npy")
        self.assertEqual((self.folder / "z.npy").read_bytes(), (self.folder / "x.npy").read_bytes())
        # More processes than devices: some have no box.
        self.reshard("x.npy", "--to", "mesh[{x}, {}]", "--mesh", "x=2", "--processes", "3", "-o", "w.safetensors")
        self.assertEqual(read_safetensors(self.part("w.safetensors", 3, 3)), {})
        self.reshard("w.safetensors", "-o", "v.npy")
        self.assertEqual((self.folder / "v.npy").read_bytes(), (self.folder / "x.npy").read_bytes())

    def test_several_tensors(self):
        a, b = numpy.arange(12, dtype="f4").reshape(4, 3), numpy.arange(10, dtype="u1").reshape(5, 2)
        self.write("all.safetensors", safetensors({"a": a, "b": b}))
        mesh = ["--mesh", "pod = [d: 2]"]
        self.reshard("all.safetensors", "--to", "pod[{d}, {}]", *mesh, "-o", "parts.safetensors")
        self.assertEqual(set(read_safetensors(self.part("parts.safetensors", 2, 2))), {"a[2..4, 0..3]", "b[3..5, 0..2]"})
        self.reshard("parts.safetensors", "-o", "again.safetensors")
        found = read_safetensors(self.folder / "again.safetensors")
        self.assert_cells(found["a"], a)
        self.assert_cells(found["b"], b)
        self.reshard("parts.safetensors:b", "-o", "b.npy")
        self.assert_cells(numpy.load(self.folder / "b.npy"), b)
        # Files that hold different tensors whole, as models are stored.
        for number, name in ((1, "a"), (2, "b")):
            self.part("model.safetensors", number, 2).write_bytes(safetensors({name: {"a": a, "b": b}[name]}))
        self.reshard("model.safetensors:b", "--to", "pod[{}, {d}]", *mesh, "-o", "b.safetensors")
        self.assert_cells(read_safetensors(self.part("b.safetensors", 2, 2))["b[0..5, 1..2]"], numpy.ascontiguousarray(b[:, 1:]))
        self.reshard("parts.safetensors", "-o", "c.npy", code=2, pattern="`c.npy` holds one tensor, but there are 2")
        self.reshard("parts.safetensors", "-o", "c.safetensors:x", code=2, pattern="names one tensor, but there are 2")
        self.reshard("parts.safetensors:c", "-o", "c.npy", code=3, pattern="T1104.*has no tensor `c`")

    def test_layouts_of_npy(self):
        cells = numpy.arange(7 * 5 * 3, dtype="i4").reshape(7, 5, 3)
        numpy.save(self.folder / "x.npy", cells)
        for k, other in enumerate((numpy.asfortranarray(cells), cells.astype(">i4"), numpy.asfortranarray(cells.astype(">i4")))):
            numpy.save(self.folder / "o.npy", other)
            self.reshard("o.npy", "--to", "m[{}, {d}, {}]", "--mesh", "m = [d: 3]", "-o", f"p{k}.npy")
            self.reshard(f"p{k}.npy", "--from", "m[{}, {d}, {}]", "--mesh", "m = [d: 3]", "-o", f"y{k}.npy")
            self.assertEqual((self.folder / f"y{k}.npy").read_bytes(), (self.folder / "x.npy").read_bytes())

    @unittest.skipIf(SANITIZED, "sanitizers need memory of their own")
    def test_a_tensor_larger_than_the_memory(self):
        """Out of core: 384 MiB with 160 MiB of data, part of which tapc and its libraries take."""
        rows, columns = 96, 1 << 20
        cells = numpy.lib.format.open_memmap(self.folder / "x.npy", mode="w+", dtype="<i4", shape=(rows, columns))
        for row in range(rows):
            cells[row] = numpy.arange(columns, dtype="i4") * 97 + row
        cells.flush()
        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (160 << 20, 160 << 20))
        self.reshard("x.npy", "--to", "m[{}, {d}]", "--mesh", "m = [d: 3]", "-o", "p.npy", before=limit, timeout=100)
        self.reshard("p.npy", "--from", "m[{}, {d}]", "--to", "m[{d}, {}]", "--mesh", "m = [d: 3]", "-o", "q.safetensors", before=limit, timeout=100)
        block = -(-columns // 3)
        for device in range(3):
            part = numpy.load(self.part("p.npy", device + 1, 3), mmap_mode="r")
            self.assertTrue(numpy.array_equal(part, cells[:, device * block:(device + 1) * block]))
        self.reshard("q.safetensors", "-o", "y.npy", before=limit, timeout=100)
        self.assertEqual(same_bytes(self.folder / "x.npy", self.folder / "y.npy"), True)

    def parts(self, ending=".safetensors"):
        """5 rows of 4 in 2 parts."""
        self.clear()
        cells = numpy.arange(20, dtype="f4").reshape(5, 4)
        numpy.save(self.folder / "x.npy", cells)
        self.reshard("x.npy", "--to", "m[{d}, {}]", "--mesh", "m = [d: 2]", "-o", "y" + ending)
        return cells

    def test_wrong_parts(self):
        cells = self.parts()
        def named(**parts):
            for number in (1, 2):
                name, part = parts["first" if number == 1 else "second"]
                self.part("y.safetensors", number, 2).write_bytes(safetensors({name: part}))
        one, two = self.part("y.safetensors", 1, 2), self.part("y.safetensors", 2, 2)
        first, second = ("t[0..3, 0..4]", cells[:3]), ("t[3..5, 0..4]", cells[3:])
        whole = two.read_bytes()
        def refused(pattern, code=3, name="y.safetensors"):
            self.write("z.npy", "an earlier file")
            self.reshard(name, "-o", "z.npy", code=code, pattern=pattern)
            self.assertEqual((self.folder / "z.npy").read_text(), "an earlier file")
            self.assertNoTemporaries()
        two.write_bytes(whole[:-1])
        refused(r"T1101.*`y-00002-of-00002.safetensors` is truncated in its data")
        two.write_bytes(whole + b"x")
        refused(r"T1101.*has data after its end")
        for cut in (0, 7, 8, 30):
            two.write_bytes(whole[:cut])
            refused(r"T1101.*`y-00002-of-00002.safetensors` is truncated")
        two.write_bytes((2**63).to_bytes(8, "little") + whole[8:])
        refused(r"T1105.*has a header of 9223372036854775808 bytes")
        two.unlink()
        refused(r"T1104.*`y-00002-of-00002.safetensors` is missing: 1 of 2 parts are there")
        two.mkdir()
        refused(r"T1203.*it is a folder", 4)
        two.rmdir()
        os.mkfifo(two)
        refused(r"T1203.*it is a named pipe", 4)
        two.unlink()
        two.write_bytes(whole)
        self.part("y.safetensors", 3, 3).write_bytes(whole)
        refused(r"T1104.*parts of several sets: `y-00001-of-00002.safetensors` and `y-00003-of-00003.safetensors`")
        self.part("y.safetensors", 3, 3).unlink()
        named(first=first, second=("t[2..4, 0..4]", cells[3:]))
        refused(r"T1103.*`t\[0..3, 0..4\]` in `y-00001-of-00002.safetensors` and `t\[2..4, 0..4\]` in .* overlap")
        named(first=first, second=("t[4..6, 0..4]", cells[3:]))
        refused(r"T1104.*no part of `t` contains the cells \[3..4, 0..4\]")
        named(first=("t[0..3, 1..5]", cells[:3]), second=("t[3..5, 1..5]", cells[3:]))
        refused(r"T1104.*no part of `t` contains the cells")
        named(first=first, second=("t[3..5, 0..5]", cells[3:]))
        refused(r"T1103.*is f32\[2, 4\], but its name gives a box of another shape")
        named(first=first, second=("t[-2..0, 0..4]", cells[3:]))
        refused(r"T1103.*its name gives a box of another shape")
        named(first=first, second=("t[3..5]", cells[3:]))
        refused(r"T1103.*its name gives a box of another shape")
        named(first=first, second=("t[3..5]", cells[3:, 0].copy()))
        refused(r"T1103.*has 2 axes, but .* has 1 axis")
        named(first=first, second=("t[3..5, 0..4]", cells[3:].astype("f8")))
        refused(r"T1102.*is f32, but `t\[3..5, 0..4\]` in .* is f64")
        far = 2**62
        named(first=first, second=(f"t[{far}..{far + 2}, 0..4]", cells[3:]))
        refused(r"T1103.*does not fit in 64 bits")
        named(first=first, second=(f"t[{2**63 - 1}..{-2**63 + 1}, 0..4]", cells[3:]))
        refused(r"T1103.*its name gives a box of another shape")
        named(first=first, second=first)
        self.reshard("y.safetensors", "-o", "again.npy")
        self.assert_cells(numpy.load(self.folder / "again.npy"), numpy.ascontiguousarray(cells[:3]))
        named(first=first, second=("t[0..3, 0..4]", cells[:3] + 1))
        refused(r"T1101.*hold the same part, \[0..3, 0..4\], with different cells")
        refused(r"holds parts of tensors\nhelp: .*`y.safetensors`", 2, "y-00002-of-00002.safetensors")
        named(first=("u", cells), second=("t", cells))
        refused(r"`z.npy` holds one tensor", 2)
        refused(r"T1203.*No such file", 4, "none.safetensors")

    def test_wrong_parts_without_names(self):
        cells = self.parts(".npy")
        two = self.part("y.npy", 2, 2)
        def refused(pattern, code=3, sharding="m[{d}, {}]", mesh="m = [d: 2]"):
            self.reshard("y.npy", "--from", sharding, "--mesh", mesh, "-o", "z.npy", code=code, pattern=pattern)
            self.assertFalse((self.folder / "z.npy").exists())
            self.assertNoTemporaries()
        refused(r"T1104.*the mesh `m` has 4 devices, but the tensor has 2 parts", mesh="m = [d: 4]")
        refused(r"T1103.*`y-00002-of-00002.npy` has the shape \[2, 4\]; expected \[3, 4\], as device 1 holds .* of f32\[3, 8\]", sharding="m[{}, {d}]")
        refused(r"T0904.*`--from` divides 1 axis, but the tensor has 2 axes", 2, sharding="m[{d}]")
        self.reshard("y.npy", "-o", "z.npy", code=2, pattern=r"T1107.*holds a part of a tensor, but does not say which part\nhelp: .*--from")
        self.reshard("x.npy", "--from", "m[{d}, {}]", "--mesh", "m = [d: 2]", "-o", "z.npy", code=3,
                     pattern=r"there are no parts of `x.npy`, such as `x-00001-of-00002.npy`\nhelp: `x.npy` holds the whole tensor")
        self.reshard("x.npy", "--from", "m[{}, {}]", "--mesh", "m = [d: 2]", "-o", "z.npy")
        (self.folder / "z.npy").unlink()
        for part, pattern in ((cells[3:4], "as device 0 holds .* of f32\\[4, 4\\]"), (cells[1:], "as device 0 holds .* of f32\\[7, 4\\]"), (cells[3:, :3], "has the shape"),
                              (cells[3:].astype("i4"), r"T1102.*is f32, but .* is i32"), (cells[3], r"has 2 axes, but .* has 1 axis")):
            numpy.save(two, numpy.ascontiguousarray(part))
            refused(pattern)
        data = self.part("y.npy", 1, 2).read_bytes()
        for broken, pattern in ((data[:-1], "truncated in its data"), (data[:5], "truncated in its magic"), (b"x" + data, "not a .npy file"),
                                (data[:6] + b"\2\0" + b"\xff" * 4 + data[12:], r"T1105.*has a header of 42949673"), (data[:9], "truncated in its header length")):
            two.write_bytes(broken)
            refused(pattern)
        numpy.save(two, numpy.array([[2, 1, 0, 1]] * 2, "u1"))
        two.write_bytes(two.read_bytes().replace(b"|u1", b"|b1"))
        numpy.save(self.part("y.npy", 1, 2), numpy.ones((3, 4), bool))
        refused("T1101.*`y-00002-of-00002.npy` has the byte 2 as element 0 of a bool tensor; expected 0 or 1")

    def test_wrong_words(self):
        numpy.save(self.folder / "x.npy", numpy.zeros((4, 4), "f4"))
        self.write("b.safetensors", safetensors({"t": numpy.zeros(4, "u2")}))
        numpy.savez(self.folder / "x.npz", a=numpy.zeros(4))
        mesh = "pod = [data: 4, model: 2]"
        for to, code, pattern in (
                ("pod[{data}]", 2, r"T0904.*`--to` divides 1 axis, but the tensor is f32\[4, 4\]"),
                ("pod[{rows}, {}]", 2, r"--to:1:6: error\[T0901\]: the mesh pod has no axis rows(.|\n)*help: there is pod = \[data: 4, model: 2\]"),
                ("dop[{data}, {}]", 2, r"--to:1:1: error\[T0901\]: the mesh dop is not declared"),
                ("pod[{data}, {data}]", 2, "T0903.*data and data cannot occur in the same sharding"),
                ("pod[{data:(1)3}, {}]", 2, r"T0903.*data:\(1\)3 is not part of an axis of size 4"),
                ("pod[{data}, {}", 2, r"--to:1:15: error\[T1001\]"),
                ("pod[{data}, {}; unreduced {model} by sum]", 2, "partial results cannot be resharded"),
                ("", 2, "T1001"), ("{data}", 2, "T1001|T0901")):
            with self.subTest(to):
                words = ["--to", to] if to else ["--to"]
                self.reshard("x.npy", "--mesh", mesh, "-o", "y.npy", *words, code=code, pattern=pattern)
        for mesh, pattern in (("pod = [data: 0]", "T0906.*must be at least 1"), ("pod = [a: 2, a: 2]", "T0906.*two axes `a`"),
                              ("pod = [a: 1048577]", "T0906.*more than 1048576 devices"), ("pod = [a: 2] devices [0, 0]", "T0906.*each once"),
                              ("pod = [a: 2] devices [0]", "T0906.*has 2 devices, and lists 1"), ("pod = [a: x]", "--mesh:1:11: error"),
                              ("pod", "--mesh:1:4: error"), ("a=99999999999999999999", "--mesh:1:3: error"), ("pod [a: 2]", "--mesh:1:5: error")):
            with self.subTest(mesh):
                self.reshard("x.npy", "--mesh", mesh, "-o", "y.npy", "--to", "pod[{a}, {}]", code=2, pattern=pattern)
        self.reshard("x.npy", "--mesh", "x=2", "--mesh", "mesh = [y: 2]", "-o", "y.npy", code=2, pattern="T0906.*declared twice")
        self.reshard("x.npz", "-o", "y.npy", code=2, pattern=r"T1107.*\n.*must end in .npy or .safetensors")
        self.reshard("x.npy:a", "-o", "y.npy", code=2, pattern="T1107.*has no name")
        self.reshard("x.npy", "-o", "y.txt", code=2, pattern="T1107")
        self.reshard("b.safetensors", "-o", "y.npy", code=2, pattern="T1102.*cannot hold bf16")
        self.reshard("x.npy", "-o", "y.npy", "--processes", "2", code=2, pattern="needs `--to`")
        self.reshard("x.npy", "-o", "y.npy", "--processes", "2", "--to", "m[{a}, {}]", "--mesh", "m = [a: 2]", code=2, pattern="hold several tensors")
        self.reshard("x.npy", "-o", "x.npy", code=3, pattern="T1106.*is the same file as")
        (self.folder / "l.npy").symlink_to("x.npy")
        self.reshard("x.npy", "-o", "l.npy", code=3, pattern="T1106.*is the same file as")
        self.reshard("x.npy", "-o", "none/y.npy", code=4, pattern="T1201.*No such file or directory")
        self.assertEqual([p.name for p in self.files()], ["b.safetensors", "l.npy", "x.npy", "x.npz"])

    def test_nothing_is_written_if_the_disk_is_full(self):
        """As with a limit on the size of files: the second part is too large."""
        numpy.save(self.folder / "x.npy", numpy.zeros((300, 1000), "f4"))
        self.write("y-00001-of-00002.npy", "an earlier file")
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
        self.reshard("x.npy", "--to", "m[{d}, {}]", "--mesh", "m = [d: 2]", "-o", "y.npy", before=limit, code=4, pattern="T1201.*File too large")
        self.assertEqual((self.folder / "y-00001-of-00002.npy").read_text(), "an earlier file")
        self.assertFalse((self.folder / "y-00002-of-00002.npy").exists())
        self.assertNoTemporaries()


def same_bytes(a, b):
    """Without both files in memory."""
    return subprocess.run(["cmp", "-s", a, b]).returncode == 0


if __name__ == "__main__":
    unittest.main()
