"""ONNX's sharding formalism, as its text says it, shard by shard: no factors, no projections, nothing of the compiler's.

    spec = Spec([2, 1], [{0, 1}, {2, 3}])        rows in two shards, each on two devices
    n_ary([((8, 1), spec), ((1, 6), other)])     where the result is, or Refused with the rule that is broken

Sentences of the text stand beside what they say. A tensor without a spec is unsharded and wherever it is wanted."""
import itertools
import math


class Refused(Exception):
    @property
    def rule(self):
        return self.args[0]


class Spec:
    """Shards by axis, and the devices of each shard (the last axis the fastest)."""

    def __init__(self, counts, shards):
        self.counts, self.shards = list(counts), [frozenset(s) for s in shards]
        assert len(self.shards) == math.prod(self.counts)

    def at(self, blocks):
        number = 0
        for block, count in zip(blocks, self.counts):
            number = number * count + (block if count > 1 else 0)
        return self.shards[number]

    def devices(self):
        return frozenset().union(*self.shards)

    def __eq__(self, other):
        return self.counts == other.counts and self.shards == other.shards

    def __str__(self):
        """As `tapc sharding` lists it."""
        keys, entries = {}, []
        for shard in self.shards:
            if len(shard) == 1:
                entries.append(min(shard))
            else:
                entries.append(keys.setdefault(shard, -1 - len(keys)))
        text = f"device = [{', '.join(map(str, entries))}]"
        if keys:
            text += ", index_to_device_group_map = {%s}" % ", ".join(f"{k}: {sorted(s)}" for s, k in keys.items())
        dims = [f"axis {a} in {count}" for a, count in enumerate(self.counts) if count > 1]
        if dims:
            text += f", sharded_dim = [{', '.join(dims)}]"
        return "{" + text + "}"


def description_of(spec):
    return "unsharded" if spec is None else str(spec)


def count(spec, axis):
    return 1 if spec is None else spec.counts[axis]


def n_ary(inputs):
    """Broadcast n-ary operations: [(shape, spec or None)] of equal ranks, with sizes of 1 where an input is broadcast."""
    rank = len(inputs[0][0])
    has = [{a for a in range(rank) if shape[a] != 1} for shape, _ in inputs]
    output = []
    for a in range(rank):
        counts = {count(spec, a) for k, (_, spec) in enumerate(inputs) if a in has[k]}
        # "For any non-broadcast axis, the sharding spec of the two (or more) inputs must be identical"
        if len(counts) > 1:
            raise Refused("same-sharding")
        # "the output axis derives the sharding spec from the corresponding input axes with a size other than 1, if any"
        output.append(counts.pop() if counts else 1)
    placed = [(k, spec) for k, (_, spec) in enumerate(inputs) if spec is not None]
    if not placed:
        return None
    # The same sentence, for the devices of inputs that share an axis and are cut alike.
    for (j, a), (k, b) in itertools.combinations(placed, 2):
        if a.counts == b.counts and (has[j] & has[k] or has[j] == has[k]) and a.shards != b.shards:
            raise Refused("same-sharding")
    broadcast = [a for a in range(rank) if any(a in h for h in has) and any(a not in h for h in has)]
    shards = []
    for blocks in itertools.product(*map(range, output)):
        owners = [spec.at(blocks) for _, spec in placed]
        # "each output shard resides in the intersection of the sets of devices that contain the corresponding input shards"
        common = frozenset.intersection(*owners)
        if len(broadcast) == 1:
            # "In the case of a single broadcast axis, the output axis derives the sharding spec from the corresponding
            # input axes with a size other than 1"; the input of size 1 "must be replicated across all devices"
            wide = [spec.at(blocks) for k, spec in placed if broadcast[0] in has[k]]
            if wide and common != wide[0]:
                raise Refused("broadcast-replicated")
        if not common:
            # "If this set is empty, then the input sharding specs are not compatible (for broadcast composition)."
            raise Refused("composable" if len(broadcast) != 1 else "broadcast-replicated")
        shards.append(common)
    # "Any broadcast axis of size 1 must be replicated across all devices that participate in the parallel computation
    # (that is, all devices identified in the node's sharding spec)."
    everyone = frozenset().union(*(spec.devices() for _, spec in placed))
    for k, spec in placed:
        if any(a not in has[k] for a in broadcast) and spec.devices() != everyone:
            raise Refused("broadcast-replicated")
    return Spec(output, shards)


def reduce(shape, spec, axes, keep, one=False):
    """Reductions. "Non-reduction axes inherit the sharding of the corresponding axes of the input." The result is on
    "all devices that participate in the particular reduction", or on the first of them."""
    if spec is None:
        return None
    kept = [a for a in range(len(shape)) if a not in axes]
    shards = []
    for blocks in itertools.product(*(range(spec.counts[a]) for a in kept)):
        at = dict(zip(kept, blocks))
        group = frozenset().union(*(
            spec.at([at[a] if a in at else more[axes.index(a)] for a in range(len(shape))])
            for more in itertools.product(*(range(spec.counts[a]) for a in axes))))
        reduced = any(spec.counts[a] > 1 for a in axes)
        shards.append({min(group)} if one and reduced else group)
    counts = [1 if a in axes else spec.counts[a] for a in range(len(shape)) if keep or a in kept]
    return Spec(counts, shards)


def stretched(spec, where, rank):
    """The spec of a tensor whose axes are axes `where` of more."""
    if spec is None:
        return None
    counts = [1] * rank
    for a, axis in enumerate(where):
        counts[axis] = spec.counts[a]
    return Spec(counts, spec.shards)


def matmul(a_shape, a, b_shape, b, one=False):
    """[…, M, K] by [K, N] or […, K, N]: "the first input is interpreted to have the shape [M, K, 1] and the second input is
    interpreted to have the shape [1, K, N], and we perform a broadcast element-wise multiplication, followed by a reduce-sum
    along the K axis"."""
    batch = len(a_shape) - 2
    own = len(b_shape) - 2
    rank = batch + 3
    a_axes = list(range(batch)) + [batch, batch + 1]
    b_axes = list(range(batch - own, batch)) + [batch + 1, batch + 2]
    shape_a = list(a_shape[:batch]) + [a_shape[-2], a_shape[-1], 1]
    shape_b = [1] * (batch - own) + list(b_shape[:own]) + [1, b_shape[-2], b_shape[-1]]
    product = n_ary([(shape_a, stretched(a, a_axes, rank)), (shape_b, stretched(b, b_axes, rank))])
    whole = [max(x, y) if min(x, y) else 0 for x, y in zip(shape_a, shape_b)]
    return reduce(whole, product, [batch + 1], keep=False, one=one)


def concat(axis, inputs):
    """Not in the text. A shard of the result is, as there, where all shards are of which it has cells; cell by cell."""
    shape = list(inputs[0][0])
    shape[axis] = sum(s[axis] for s, _ in inputs)
    counts = []
    for a in range(len(shape)):
        found = {count(spec, a) for _, spec in inputs}
        if len(found) > 1:
            raise Refused("same-sharding")
        counts.append(found.pop())
    if all(spec is None for _, spec in inputs):
        return None
    owners = {}
    for cell in itertools.product(*map(range, shape)):
        block = tuple(x // -(-size // count) for x, size, count in zip(cell, shape, counts))
        own = list(cell)
        for part, spec in inputs:
            if own[axis] < part[axis]:
                break
            own[axis] -= part[axis]
        if spec is None:
            continue
        devices = spec.at([x // -(-size // count) for x, size, count in zip(own, part, counts)])
        owners[block] = owners.get(block, devices) & devices
    shards = []
    for blocks in itertools.product(*map(range, counts)):
        if blocks not in owners:
            raise NotImplementedError("a shard without cells, or of inputs that are anywhere")
        if not owners[blocks]:
            raise Refused("composable")
        shards.append(owners[blocks])
    return Spec(counts, shards)
