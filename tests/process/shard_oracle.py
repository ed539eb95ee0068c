"""The shards of a graph, by trying every device and every index point: what each computes, reads and writes. The oracle of
report_test.py, from `inspect --format=json` alone."""
import itertools
import re


def block(lo, hi, count, boundaries, number):
    if boundaries:
        return boundaries[number], boundaries[number + 1]
    step = -(-(hi - lo) // count)
    return min(hi, lo + number * step), min(hi, lo + (number + 1) * step)


class Stage:
    """Applications of a graph of `--format=json`, point by point."""

    def __init__(self, program, report):
        self.program, self.graph = program, program["graphs"][program["main"]]
        self.mesh = report["meshes"][0]
        stage = report["stages"][-1]["graphs"][0]
        self.placements = [operation.get("placements", []) for operation in stage["operations"]]

    def applications(self, number):
        """(devices, points) of each, by trying every device and every point."""
        op = self.program["operators"][self.graph["operations"][number]["operator"]]
        dims = [range(dim["lo"], dim["hi"]) for dim in op["dims"]]
        blocks = sorted({b["block_dim"] for b in op["blockings"]})
        points = {}
        for point in itertools.product(*dims):
            inside, within = True, [(dim["lo"], dim["hi"]) for dim in op["dims"]]
            for b in op["blockings"]:  # a later one divides the block of an earlier one
                lo, hi = within[b["dim"]] = block(*within[b["dim"]], b["count"], b["boundaries"], point[b["block_dim"]])
                inside &= lo <= point[b["dim"]] < hi
            if inside:
                points.setdefault(tuple(point[d] for d in blocks), []).append(point)
        found = {}
        for device, at in self.devices():
            numbers = {p["dim"]: self.digit(at, p["over"].split(".")[1])[0] for p in self.placements[number]}
            if numbers:
                found.setdefault(tuple(numbers.get(d, 0) for d in blocks), []).append(device)
        for key, some in points.items():
            devices = ",".join(map(str, sorted(found[key]))) if found else "all"
            yield devices, some, op

    def shards(self, number):
        """The texts of each application: its devices, and the points of the dims on which they differ."""
        found = []
        for devices, points, op in self.applications(number):
            blocks = {b["block_dim"] for b in op["blockings"]}
            found.append((devices, [(op["dims"][d]["name"], lo, hi) for d, (lo, hi) in enumerate(ranges_of(points)) if d not in blocks]))
        differ = [d for d in range(len(found[0][1])) if len({dims[d] for _, dims in found}) > 1]
        word = {False: "device ", True: "devices "}
        return [" | ".join([word["," in on] + on.replace(",", ", "), *("%s %d..%d" % dims[d] for d in differ)]) for on, dims in found]

    def devices(self):
        positions = itertools.product(*(range(axis["size"]) for axis in self.mesh["axes"]))
        for position, at in enumerate(positions):
            yield self.mesh["ids"][position] if self.mesh["ids"] else position, at

    def digit(self, at, axis):
        """The coordinate along `a` or `a:(2)2`, and how many there are."""
        name, major, size = re.fullmatch(r"(\w+)(?::\((\d+)\)(\d+))?", axis).groups()
        number = [known["name"] for known in self.mesh["axes"]].index(name)
        whole = self.mesh["axes"][number]["size"]
        major, size = int(major or 1), int(size or whole)
        return at[number] // (whole // (major * size)) % size, size

    def cells(self, op, kind, operation, points):
        """value → the cells of each access."""
        out = []
        for access in op[kind]:
            value = operation["operands" if kind == "reads" else "results"][access["tensor"]]
            shape, cells = self.graph["values"][value]["type"]["shape"], set()
            for point in points:
                start = [sum(c * p for c, p in zip(row, point)) + o for row, o in zip(access["matrix"], access["offset"])]
                for cell in itertools.product(*(range(s, s + n) for s, n in zip(start, access["shape"]))):
                    if all(0 <= c < n for c, n in zip(cell, shape)):
                        cells.add(cell)
            out.append((value, cells))
        return out

    def parts(self, value):
        """box → (devices, applications that write it, cells)."""
        found = {}
        for number, operation in enumerate(self.graph["operations"]):
            if value in operation["results"]:
                for devices, points, op in self.applications(number):
                    for written, cells in self.cells(op, "writes", operation, points):
                        if written == value and cells:
                            found[box_of(cells)] = (devices, (number, points, op), cells)
        if found:
            return found
        shape = self.graph["values"][value]["type"]["shape"]
        sharding = self.graph["values"][value]["sharding"]
        if not sharding:
            cells = set(itertools.product(*map(range, shape)))
            return {box_of(cells): ("all", None, cells)}
        axes = [part.split(", ") if part else [] for part in re.findall(r"\{(.*?)\}", sharding)]
        held = {}
        for device, at in self.devices():
            ranges = []
            for extent, names in zip(shape, axes):
                number, count = 0, 1
                for digit, size in (self.digit(at, name) for name in names):
                    number, count = number * size + digit, count * size
                ranges.append(range(*block(0, extent, count, [], number)))
            held.setdefault(tuple(itertools.product(*ranges)), []).append(device)
        return {box_of(cells): (",".join(map(str, sorted(devices))), None, set(cells)) for cells, devices in held.items() if cells}

    def expected(self, name):
        values = self.graph["values"]
        value = [v["name"] for v in values].index(name)
        parts = self.parts(value)
        for box, (devices, writer, cells) in parts.items():
            reads, lit = [], []
            if writer:
                number, points, op = writer
                for operand, read in self.cells(op, "reads", self.graph["operations"][number], points):
                    if read:
                        reads.append(f"{values[operand]['name']} {box_of(read)}")
                        hull = set(itertools.product(*(range(lo, hi) for lo, hi in ranges_of(read))))
                        lit += [f"{values[operand]['name']} {other} {on}" for other, (on, _, held) in self.parts(operand).items()
                                if held & hull]
            readers = []
            for number, operation in enumerate(self.graph["operations"]):
                if value in operation["operands"]:
                    for on, points, op in self.applications(number):
                        for read, some in self.cells(op, "reads", operation, points):
                            hull = set(itertools.product(*(range(lo, hi) for lo, hi in ranges_of(some)))) if some else set()
                            if read == value and hull & cells:
                                readers.append(f"{operation_name(self.graph, operation)} {box_of(some)} {on}")
            yield {"box": box, "devices": devices, "reads": sorted(set(reads)), "lit": sorted(set(lit)),
                   "overlaps": [other for other in parts if other != box and parts[other][2] & cells],
                   "readers": sorted(set(readers))}


def ranges_of(cells):
    return [(min(axis), max(axis) + 1) for axis in zip(*cells)]


def box_of(cells):
    return "[" + ", ".join(f"{lo}..{hi}" for lo, hi in ranges_of(cells)) + "]"


def operation_name(graph, operation):
    return graph["values"][operation["results"][0]]["name"]
