#!/bin/bash
# make bench: measures everything that has a budget (bench/budgets.py), in CPU time.
#
#   RUNS=11 OPERATIONS=100000 RANDOM_CASES=1000 scripts/bench.sh      smaller numbers for a quick look
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
exec /usr/bin/python3 bench/budgets.py "$build/bin/tapc" "$build/bin/bench_compiler" \
  --runs "${RUNS:-11}" --operations "${OPERATIONS:-100000}" --random "${RANDOM_CASES:-1000}"
