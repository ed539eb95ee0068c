"""Programs of which every order of adding gives other bits, and inputs for them: what must not change the bits of a result is
tried on these."""
import re

import numpy as np

from tapc import TapcTest

PROGRAMS = {
    "matmul": "use std\nprogram p(x: f32[83, 900], y: f32[900, 700]) -> (z: f32[83, 700]) { z = matmul(x, y) }\n",
    "transposed": "program p(x: f32[900, 83], y: f32[700, 900]) -> (z: f32[83, 700]) { z[i, j] = sum[k] x[k, i] * y[j, k] }\n",
    "conv": "use std\nprogram p(x: f32[2, 16, 20, 20], y: f32[24, 16, 3, 3]) -> (z: f32[2, 24, 20, 20]) "
            "{ z = conv2d<pad = 1>(x, y) }\n",
    "sums": "program p(x: f32[37, 5001]) -> (z: f32[37], w: f32[5001], v: f32[]) "
            "{ z[i] = sum[k] x[i, k]  w[k] = sum[i] x[i, k]  v[] = sum[i, k] x[i, k] }\n",
    "doubles": "program p(x: f64[37, 5001]) -> (z: f64[37], m: f64[37]) { z[i] = sum[k] x[i, k] * x[i, k]  m[i] = max[k] x[i, k] }\n",
    "softmax": "use std\nprogram p(x: f32[19, 1003]) -> (z: f32[19, 1003]) { z = softmax(x) }\n",
    "attention": "use std\nprogram p(x: f32[130, 64], y: f32[515, 64], k: f32[515, 48]) -> (z: f32[130, 48]) "
                 "{ z = attention(x, y, k) }\n",
}


class BitsTest(TapcTest):
    def inputs(self, text):
        """Numbers of which every order of adding gives other bits."""
        words = []
        for number, (name, element, shape) in enumerate(re.findall(r"(\w): (f\d\d)\[([^\]]*)\]", text.split("->")[0])):
            array = np.random.default_rng(number).standard_normal([int(n) for n in shape.split(",")])
            np.save(self.folder / f"{name}.npy", array.astype(np.float32 if element == "f32" else np.float64))
            words += ["-i", f"{name}=@{name}.npy"]
        return words
