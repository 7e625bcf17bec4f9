#!/usr/bin/env bash
# toolchain.sh NAME: installs the locked wheel of a toolchain beside .venv and prints its bin folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=.build/toolchain-$1
if [ ! -e "$folder/.installed" ]; then
    echo "set-up: $1 from its wheel" >&2
    .venv/bin/python -m venv --without-pip "$folder"
    .venv/bin/uv pip install --quiet --python "$folder/bin/python" --require-hashes -r "requirements/$1.txt"
    touch "$folder/.installed"
fi
echo "$PWD/$folder/bin"
