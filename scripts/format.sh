#!/bin/bash
# Formats the C++ sources (clang-format) and the Tap sources (tapc fmt). --check writes nothing, and lists
# what would change.
set -euo pipefail
cd "$(dirname "$0")/.."

check=
[[ ${1:-} == --check ]] && check=1

mapfile -t cpp < <(git ls-files -co --exclude-standard '*.cpp' '*.h' | sort)
if [[ $check ]]; then
  clang-format --dry-run --Werror "${cpp[@]}"
else
  clang-format -i "${cpp[@]}"
fi

tapc=${TAPC:-build/bin/tapc}
mapfile -t tap < <(git ls-files -co --exclude-standard 'lib/*.tap' 'examples/*.tap' | sort)
if [[ -x $tapc ]] && ((${#tap[@]})); then "$tapc" fmt ${check:+--check} -- "${tap[@]}"; fi
