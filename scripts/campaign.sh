#!/bin/bash
# make campaign: the runs that are too long for every change. Each part prints its own verdict; any failure fails it all.
#
#   scripts/campaign.sh [tsan] [fuzz] [random] [bench]      all of them by default
set -euo pipefail
cd "$(dirname "$0")/.."
parts=("$@")
((${#parts[@]})) || parts=(tsan fuzz random bench)
jobs=${JOBS:-$(nproc)}

run_tsan() {  # the host's threads under the thread sanitizer
  cmake --preset tsan >/dev/null
  cmake --build build-tsan -j "$jobs"
  ctest --test-dir build-tsan --output-on-failure -j "$jobs"
}

run_fuzz() {  # every fuzz target, FUZZ_SECONDS each, from its kept corpus
  cmake --preset fuzz >/dev/null
  cmake --build build-fuzz -j "$jobs" --target fuzz_targets
  local target name
  for target in build-fuzz/bin/fuzz_*; do
    name=$(basename "$target")
    mkdir -p "out/corpus/$name"
    "$target" -max_total_time="${FUZZ_SECONDS:-600}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      "out/corpus/$name" "tests/fuzz/corpus/${name#fuzz_}"
  done
}

run_random() {  # the property tests with many more cases each
  RC_PARAMS="max_success=${RANDOM_CASES:-5000}" ctest --test-dir build --output-on-failure -j "$jobs" -R Property
}

run_bench() { scripts/bench.sh; }

for part in "${parts[@]}"; do
  echo "== $part"
  "run_$part"
done
echo "campaign passed: ${parts[*]}"
