"""Results of compiled libraries between bytes that nobody may change: a kernel that writes a cell too many is seen at once."""
import numpy as np

GUARD = 256


class GuardedNumpy:
    """numpy, save that what `empty` makes lies between guards. `check()` after the calls."""

    def __init__(self):
        self.memory = []

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = np.full(size + 2 * GUARD, 0xa7, np.uint8)
        self.memory.append((memory, size))
        return memory[GUARD:GUARD + size].view(dtype).reshape(shape)

    def check(self):
        for memory, size in self.memory:
            for name, guard in (("before", memory[:GUARD]), ("behind", memory[GUARD + size:])):
                wrong = np.flatnonzero(guard != 0xa7)
                assert len(wrong) == 0, f"{len(wrong)} bytes {name} a result of {size} bytes are overwritten, the first at {wrong[0]}"


def guard_results(test, module):
    """The module of a compiled library, whose results lie between guards; these are looked at when the test ends."""
    module.numpy = GuardedNumpy()
    test.addCleanup(module.numpy.check)
    return module
