#!/bin/bash
# Installs the missing Debian 12 packages that the build and the tests need, as root or through sudo. If none is missing,
# it does nothing and needs no network. README.md has the reason for each package.
set -euo pipefail

packages=(
  # build
  cmake ninja-build g++ binutils make git ccache mold
  antlr4 libantlr4-runtime-dev uuid-dev
  llvm-22-dev liblld-22-dev libhwloc-dev libtomlplusplus-dev
  libisl-dev libgmp-dev libz3-dev
  libboost-dev libboost-graph-dev libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libxxhash-dev
  openmpi-bin libopenmpi-dev
  # tests
  libgtest-dev libgmock-dev librapidcheck-dev python3 python3-numpy
  clang-22 lld-22 libclang-rt-22-dev mlir-22-tools
  qemu-user g++-aarch64-linux-gnu pkg-config
  # tools
  clang-format clang-tidy graphviz chromium fonts-dejavu-core
)
# The page of reports is built and tested with any Node.js from 18; a machine may have one from elsewhere.
command -v npm >/dev/null || packages+=(nodejs npm)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done

if ((${#missing[@]} == 0)); then
  echo "dependencies: all ${#packages[@]} packages are installed"
  exit 0
fi

echo "dependencies: ${#missing[@]} of ${#packages[@]} packages are missing: ${missing[*]}"
root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || { echo "dependencies: run this as root, or install sudo" >&2; exit 4; }
  root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
echo "dependencies: fetching the package lists"
"${root[@]}" apt-get update -qq </dev/null
echo "dependencies: installing"
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null
echo "dependencies: done"
