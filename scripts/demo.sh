#!/bin/bash
# make demo: checks, runs and draws examples/mlp.tap.
set -euo pipefail
cd "$(dirname "$0")/.."
tapc=${TAPC:-build/bin/tapc}
mkdir -p out

show() { printf '\n$ %s\n' "$*"; "$@"; }

echo "examples/mlp.tap:"
sed 's/^/    /' examples/mlp.tap
show "$tapc" check examples/mlp.tap
show "$tapc" run examples/mlp.tap -i X=rand:1 -i W1=rand:2 -i b1=rand:3 -i W2=rand:4 -i b2=rand:5 -o Y=@out/mlp_Y.npy
show "$tapc" inspect examples/mlp.tap --format svg -o out/mlp.svg
printf '\nThe result is in out/mlp_Y.npy, the graph of the program in out/mlp.svg.\n'
