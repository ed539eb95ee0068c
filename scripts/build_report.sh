#!/bin/bash
# Builds the page of reports from report/src into report/built/page.html, which is committed: building tapc needs no npm.
#
#   scripts/build_report.sh            checks the types and writes the page
#   scripts/build_report.sh --check    fails if the committed page differs from its sources
set -euo pipefail
cd "$(dirname "$0")/../report"

command -v npm >/dev/null || { echo "build_report: npm is not installed; scripts/install-deps.sh installs it" >&2; exit 4; }
if [[ ! -d node_modules || package-lock.json -nt node_modules/.package-lock.json ]]; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
fi
npm run --silent check
if [[ ${1:-} != --check ]]; then
  npm run --silent build
  exit
fi
built=$(mktemp)
trap 'rm -f "$built"' EXIT
node build.mjs "$built"
if ! cmp -s "$built" built/page.html; then
  echo "report/built/page.html differs from its sources: run scripts/build_report.sh and commit the page" >&2
  exit 1
fi
echo "report/built/page.html is what its sources make"
