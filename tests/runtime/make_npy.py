#!/usr/bin/env python3
"""make_npy.py write FOLDER: writes files of every element type, order, byte order and version with NumPy, and `index`,
one line per tensor: file, entry or -, element type, shape, and the values as float.hex() or integers.

make_npy.py read FOLDER: prints the same lines for the .npy and .npz files that stand in FOLDER, as NumPy reads them."""

import io
import os
import sys
import zipfile

import numpy as np
from numpy.lib import format as npy

NAMES = {"f8": "f64", "f4": "f32", "f2": "f16", "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i8", "u1": "u8",
         "b1": "bool"}


def line(file, entry, array):
    code = array.dtype.str[1:]
    flat = array.astype(array.dtype.newbyteorder("=")).ravel(order="C")
    if code[0] == "f":
        values = ["nan" if np.isnan(v) else float(v).hex() for v in flat]
    else:
        values = [str(int(v)) for v in flat]
    shape = "x".join(str(n) for n in array.shape) or "scalar"
    return " ".join([file, entry, NAMES[code], shape] + values)


def values_of(code, shape):
    count = int(np.prod(shape))
    if code[0] == "f":
        special = [0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 5e-324, 1e-40, 6e-8, 65504.0, -1 / 3, 1e30]
        with np.errstate(all="ignore"):
            return np.resize(np.array(special), count).astype(code).reshape(shape)
    if code == "b1":
        return (np.arange(count) % 3 == 0).reshape(shape)
    limits = np.iinfo(code)
    special = [0, 1, limits.max, limits.min, 7]
    return np.resize(np.array(special, dtype=code), count).reshape(shape)


def write(folder):
    index = []

    def put(file, array, version):
        with open(os.path.join(folder, file), "wb") as out:
            npy.write_array(out, array, version=version)
        index.append(line(file, "-", array))

    arrays = {}
    for code in NAMES:
        for number, shape in enumerate([(2, 3), (3, 2, 2), (), (0,), (4, 0, 2), (1,), (5,)]):
            plain = values_of(code, shape)
            for order in "<>":
                for fortran in (False, True):
                    array = plain.astype(order + code)
                    array = np.asfortranarray(array) if fortran else array
                    name = f"{code}_{number}_{'big' if order == '>' else 'little'}_{'fortran' if fortran else 'c'}"
                    put(name + ".npy", array, [(1, 0), (2, 0), (3, 0)][number % 3])
            arrays[f"{code}_{number}"] = plain
    large = np.arange(300000, dtype="f8").reshape(300, 1000)  # above the size from which files are mapped
    put("large.npy", large, (1, 0))
    put("large_fortran.npy", np.asfortranarray(large), (1, 0))

    np.savez(os.path.join(folder, "stored.npz"), **arrays)
    np.savez_compressed(os.path.join(folder, "deflated.npz"), large=large, **arrays)
    zip64(os.path.join(folder, "zip64.npz"), arrays)
    descriptors(os.path.join(folder, "descriptors.npz"), arrays)
    for file in ["stored.npz", "deflated.npz", "zip64.npz", "descriptors.npz"]:
        for name, array in arrays.items():
            index.append(line(file, name, array))
    index.append(line("deflated.npz", "large", large))
    with open(os.path.join(folder, "index"), "w") as out:
        out.write("\n".join(index) + "\n")


def bytes_of(array):
    out = io.BytesIO()
    npy.write_array(out, array)
    return out.getvalue()


def zip64(path, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as entry:
                entry.write(bytes_of(array))


def descriptors(path, arrays):
    class Stream:  # what cannot seek makes zipfile write data descriptors behind the entries
        def __init__(self, out):
            self.out = out

        def write(self, data):
            return self.out.write(data)

        def flush(self):
            pass

    with open(path, "wb") as out, zipfile.ZipFile(Stream(out), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", bytes_of(array))


def read(folder):
    for file in sorted(os.listdir(folder)):
        path = os.path.join(folder, file)
        if file.endswith(".npy"):
            print(line(file, "-", np.load(path, allow_pickle=False)))
        elif file.endswith(".npz"):
            assert zipfile.ZipFile(path).testzip() is None
            with np.load(path, allow_pickle=False) as archive:
                for name in archive.files:
                    print(line(file, name, archive[name]))


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
