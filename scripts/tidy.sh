#!/bin/bash
# clang-tidy (.clang-tidy) on sources that changed since BASE, on sources that are named, or on all. A warning is an error.
#
#   scripts/tidy.sh [BASE]       changed since the branch left BASE (origin/main where there is one, else the last commit but one),
#                                committed or not; at most MOST=24, since a source takes seconds
#   scripts/tidy.sh FILE.cpp…    these
#   scripts/tidy.sh --all        all, and the static analyzer too: hours. make campaign runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
most=${MOST:-24}
checks=()

sources=()
if [[ ${1:-} == --all ]]; then
  mapfile -t sources < <(git ls-files '*.cpp')
  checks=(--checks=clang-analyzer-*)
  most=${#sources[@]}
elif [[ ${1:-} == *.cpp ]]; then
  sources=("$@")
else
  base=${1:-}
  for candidate in "$base" origin/main HEAD~1; do
    [[ -n $candidate ]] && git rev-parse -q --verify "$candidate^{commit}" >/dev/null && { base=$candidate; break; }
  done
  if [[ -z $base ]]; then
    echo "clang-tidy: there is no commit to compare with (a shallow clone?)"
    exit 0
  fi
  # A changed header is looked at through the sources that change with it.
  mapfile -t sources < <(git diff --name-only --diff-filter=d "$(git merge-base "$base" HEAD 2>/dev/null || echo "$base")" -- '*.cpp')
fi

# Compiled by another compiler than ours: tests' libraries of C, fuzz targets and rivals of the benchmarks have options of their own.
mapfile -t sources < <(printf '%s\n' "${sources[@]}" | grep -Ev '^(bench/peers|runtime/embedded|tests/fuzz)/|^$' || true)
if ((${#sources[@]} == 0)); then
  echo "clang-tidy: no source changed"
  exit 0
fi
if ((${#sources[@]} > most)); then
  echo "clang-tidy: ${#sources[@]} sources changed; these $most are checked here, all by make campaign"
  sources=("${sources[@]:0:most}")
fi

# One command for each source, without unity groups and precompiled headers; of the build, only what it generates is needed.
cmake --preset tidy >build-tidy.configure.log 2>&1 || { cat build-tidy.configure.log; exit 1; }
cmake --build build-tidy -j "$jobs" --target generated_sources >>build-tidy.configure.log 2>&1 || { tail -20 build-tidy.configure.log; exit 1; }
printf '%s\0' "${sources[@]}" |
  xargs -0 -n 1 -P "$jobs" clang-tidy -p build-tidy --quiet "${checks[@]}" 2> >(grep -v 'warnings\? generated\|^Suppressed\|^Use -header' >&2)
echo "clang-tidy: ${#sources[@]} sources, no warning"
