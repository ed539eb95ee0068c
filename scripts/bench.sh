#!/bin/bash
# make bench: how long the compiler takes for its examples, the median of several runs, in milliseconds.
set -euo pipefail
cd "$(dirname "$0")/.."
tapc=${TAPC:-build/bin/tapc}

median_ms() {  # of 11 runs of a command
  for _ in $(seq 11); do
    local begin end
    begin=$(date +%s%N)
    "$@" >/dev/null 2>&1
    end=$(date +%s%N)
    echo $(((end - begin) / 1000))
  done | sort -n | sed -n 6p | awk '{ printf "%8.1f ms", $1 / 1000 }'
}

for example in examples/*.tap; do
  printf '%s  tapc check %s\n' "$(median_ms "$tapc" check "$example")" "$example"
done
