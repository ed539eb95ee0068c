"""Stages that `tapc verify` wrote, edited and sealed anew: the hashes of a certificate fit what tapc-check is given."""
import ctypes
import ctypes.util


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def hash_of(text):
    """As certificates name a program: XXH3 of its text."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_128bits.restype, library.XXH3_128bits.argtypes = Hash128, [ctypes.c_char_p, ctypes.c_size_t]
    made = library.XXH3_128bits(text.encode(), len(text.encode()))
    return f"{made.high:016x}{made.low:016x}"


def sealed(certificate, before, after):
    """The certificate with the hashes of the stages as they are now. What several stages have in common is one text."""
    for was, now in zip(before, after):
        certificate = certificate.replace(hash_of(was), hash_of(now))
    return certificate
