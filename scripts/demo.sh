#!/bin/bash
# make demo: shows the features of tapc in ten commands. TAPC is the compiler, OUT the folder for the output.
set -euo pipefail
cd "$(dirname "$0")/.."
tapc=$(realpath "${TAPC:-build/bin/tapc}")
OUT=${OUT:-$PWD/out}
mkdir -p "$OUT"
OUT=$(realpath "$OUT")
cp examples/demo/blur.tap examples/demo/layer.tap "$OUT"
cd "$OUT"
rm -f layer.*.ir

title() { printf '\n== %s\n' "$*"; }
print() { printf '\n%s:\n' "$1"; sed 's/^/    /' "$1"; }
show() { printf '\n$ %s\n' "tapc ${*}"; "$tapc" "$@"; }
refused() { if show "$@"; then echo "demo: this should have been refused" >&2; exit 1; fi; }

title "1. Every program is proved legal: a mistake is shown with a witness and a fix"
print blur.tap
refused check blur.tap 2>&1
sed 's/X\[i + 1\]/X[i + 1 else 0]/' blur.tap >fixed.tap
show check fixed.tap
echo "(the fix is correct: every read is in bounds or has a fill, every cell is written once)"

title "2. A transformer layer for 4 x 2 devices: annotate the inputs, propagation infers the rest"
print layer.tap
show sharding layer.tap
echo
echo "Communication: two all-reduces, with the bytes that a device receives."
show sharding layer.tap --moves

title "3. Why is it sharded like this? Step by step, back to the annotation"
show explain layer.tap:P
show explain layer.tap:norm1

title "4. Native code and the interpreter, which is slow and obviously right, agree"
inputs=(--dim batch=4 --dim n=8)
seed=0
for input in X Wq Wk Wv Wo Wu Wd norm1 norm2; do inputs+=(-i "$input=rand:$((++seed))"); done
show run layer.tap "${inputs[@]}" -o Y=@Y.npy
show run layer.tap "${inputs[@]}" --engine interp --expect Y=@Y.npy --rtol 1e-3 --atol 1e-4
echo "(they agree)"

title "5. Every step of the compiler, down to the schedule of the devices, is proved by a program that shares no code with it"
printf '\n$ %s\n' "tapc verify layer.tap --certificate layer.cert --stages layer"
"$tapc" verify layer.tap --certificate layer.cert --stages layer | awk '
  / steps$/ { steps = $1 }
  /^proved/ { proved += $3 }
  /^assumed/ { assumed++ }
  END { printf "certificate: %d steps, %d obligations proved, %d assumptions (%s)\n", steps, proved, assumed,
        assumed ? "float products and sums are reordered" : "none" }'

title "6. A forged certificate is refused"
sed '0,/partial \([0-9]*\) dim \([0-9]*\) by/s//partial \1 dim 0 by/' layer.cert >forged.cert
printf '\n$ diff layer.cert forged.cert\n'
diff layer.cert forged.cert || true
printf '\n$ tapc-check layer.00.ir forged.cert layer.*.ir\n'
stages=(layer.*.ir)
if "${tapc}-check" layer.00.ir forged.cert "${stages[@]:1}" >checked.txt; then
  echo "demo: the forged certificate was not refused" >&2
  exit 1
fi
grep '^refused' checked.txt

title "7. The picture"
show inspect layer.tap --format svg -o layer.svg
echo "(the graph of the layer)"
printf '\nAll files are in %s.\n' "$OUT"
