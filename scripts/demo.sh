#!/bin/bash
# make demo: checks, runs and draws examples/mlp.tap.
set -euo pipefail
cd "$(dirname "$0")/.."
tapc=${TAPC:-build/bin/tapc}
mkdir -p out

show() { printf '\n$ %s\n' "tapc ${*}"; "$tapc" "$@"; }

echo "examples/mlp.tap:"
sed 's/^/    /' examples/mlp.tap
show check examples/mlp.tap
echo "(nothing to say: every read lies inside its tensor, and every cell is written once)"

sizes=(--dim batch=64 --dim width=128 --dim hidden=256)
inputs=(-i X=rand:1 -i W1=rand:2 -i b1=rand:3 -i W2=rand:4 -i b2=rand:5)
show run examples/mlp.tap "${sizes[@]}" "${inputs[@]}" -o Y=- -o Y=@out/mlp_Y.npy
echo
echo "The same by the interpreter, which is slow and obviously right; its result must agree:"
show run examples/mlp.tap "${sizes[@]}" "${inputs[@]}" --engine interp --expect Y=@out/mlp_Y.npy --rtol 1e-4 --atol 1e-4
echo "(it does)"
show inspect examples/mlp.tap --format svg -o out/mlp.svg
printf '\nThe result is in out/mlp_Y.npy, the graph of the program in out/mlp.svg.\n'
