"""The sharding representation as its text says it: which shardings are well formed, how they are normalised, and which
cells a device holds. Nothing of the compiler's: sub-axes are found by reshaping the devices.

    mesh = Mesh("m", [("x", 2), ("y", 4)], devices=None)
    sharding = Sharding(mesh, [[("x", None)], [("y", (1, 2))]])     m[{x}, {y:(1)2}]"""
import itertools
import math


class Mesh:
    def __init__(self, name, axes, devices=None):
        self.name, self.axes, self.devices = name, axes, devices

    def size(self, axis):
        return dict(self.axes)[axis]

    def count(self):
        return math.prod(n for _, n in self.axes)

    def position(self, device):
        """The coordinates of a device: the list of devices reshaped to the mesh."""
        place = self.devices.index(device) if self.devices else device
        return dict(zip((name for name, _ in self.axes), list(itertools.product(*(range(n) for _, n in self.axes)))[place]))

    def __str__(self):
        text = f"mesh {self.name} = [{', '.join(f'{a}: {n}' for a, n in self.axes)}]"
        return text + (f" devices [{', '.join(map(str, self.devices))}]" if self.devices else "")


def axis_text(axis):
    name, sub = axis
    return name if sub is None else f"{name}:({sub[0]}){sub[1]}"


class Dim:
    def __init__(self, axes, open=False, priority=None):
        self.axes, self.open, self.priority = axes, open, priority

    def __str__(self):
        inside = [axis_text(a) for a in self.axes] + ["?"] * self.open
        return "{" + ", ".join(inside) + "}" + ("" if self.priority is None else f"p{self.priority}")


class Sharding:
    def __init__(self, mesh, dims, replicated=()):
        self.mesh, self.dims, self.replicated = mesh, dims, list(replicated)

    def __str__(self):
        text = ", ".join(map(str, self.dims))
        if self.replicated:
            text += "; replicated {" + ", ".join(map(axis_text, self.replicated)) + "}"
        return f"{self.mesh.name}[{text}]"

    # Invariants

    def faults(self, rank):
        """Codes of the messages of what is broken."""
        found = set()
        # "The number of dimension shardings must match the rank of the tensor."
        if len(self.dims) != rank:
            found.add("T0904")
        everything = [a for d in self.dims for a in d.axes] + self.replicated
        known = []
        for axis in everything:
            fault = self.fault_of_axis(axis)
            found |= {fault} if fault else set()
            if not fault:
                known.append(axis)
        for a, b in itertools.combinations(known, 2):
            if a[0] == b[0] and not self.fit(a, b):
                found.add("T0902")
        for dim in self.dims:
            # "Priorities start at 0"; "An empty closed dimension sharding shouldn't have a priority"
            if dim.priority is not None and (not dim.axes and not dim.open):
                found.add("T0905")
        for neighbours in [d.axes for d in self.dims] + [self.in_order(self.replicated)]:
            # "If a dimension sharding has two adjacent sub-axes A and B in order, or sub-axes A and B are explicitly
            # replicated, they must not be consecutive"
            for a, b in zip(neighbours, neighbours[1:]):
                if a[0] == b[0] and a[1] and b[1] and a[1][0] * a[1][1] == b[1][0]:
                    found.add("T0908")
        return found

    def fault_of_axis(self, axis):
        name, sub = axis
        # "All axis names must exist in the referenced mesh."
        if name not in dict(self.mesh.axes):
            return "T0901"
        if sub is None:
            return None
        m, k = sub
        n = self.mesh.size(name)
        # "m>=1 … should be a divisor of n", "k>1 … should be a divisor of n", and n/(m*k) is a size, too. A sub-axis of
        # the full size is the full axis: "Sub-axes referenced in a tensor sharding must be as big as possible".
        return "T0903" if m < 1 or k < 2 or n % (m * k) or k == n else None

    def fit(self, a, b):
        """"Axes or sub-axes can only appear once", "must not overlap", and "[...,k1,...,km,...]" is one reshape for both."""
        if not a[1] or not b[1]:
            return False
        (m, k), (p, _) = sorted((a[1], b[1]))
        return m * k <= p and p % (m * k) == 0

    def in_order(self, axes):
        """"the axes will be stored in the order they are specified in the top level mesh"; sub-axes "in increasing order by
        their pre-size"."""
        names = [name for name, _ in self.mesh.axes]
        return sorted(axes, key=lambda a: (names.index(a[0]) if a[0] in names else -1, (a[1] or (1, 0))[0]))

    def normal(self):
        return Sharding(self.mesh, self.dims, self.in_order(self.replicated))

    # Meaning

    def box(self, shape, device):
        """"To extract a specific sub-axis of size k from a full axis "x" of size n, we effectively reshape the size n into
        [m, k, n/(m*k)] and use the 2nd dimension"; axes go "from major to minor"."""
        at = self.mesh.position(device)
        ranges = []
        for size, dim in zip(shape, self.dims):
            block = blocks = 0
            blocks = 1
            for name, sub in dim.axes:
                n = self.mesh.size(name)
                m, k = sub or (1, n)
                coordinate = list(itertools.product(range(m), range(k), range(n // (m * k))))[at[name]][1]
                block, blocks = block * k + coordinate, blocks * k
            length = -(-size // blocks)
            ranges.append((min(size, block * length), min(size, (block + 1) * length)))
        return ranges
