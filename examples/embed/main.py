"""Calls the program of scale.tap:  tapc compile scale.tap -o scale.so --emit=py && python3 main.py"""
import numpy

import scale_program

scale = scale_program.Program(numpy.float32(2))
y, total = scale(numpy.ones((2, 4), numpy.float32))
print(y.tolist(), total)
