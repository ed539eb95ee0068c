#!/bin/bash
# Takes the pictures of reports in docs/images/report anew, of all panels or of those named: scripts/screenshots.sh TAPC [conv_graph…]
set -euo pipefail
tapc=$(realpath "${1:?usage: screenshots.sh TAPC [PROGRAM_PANEL…]}")
cd "$(dirname "$0")/.."
scripts/build_report.sh --check
exec node report/screenshots.mjs "$tapc" "${@:2}"
