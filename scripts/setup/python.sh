#!/usr/bin/env bash
# Makes .venv and puts the installer into it; everything else is installed with that.
set -euo pipefail
cd "$(dirname "$0")/../.."

for python in python3.11 python3.12 python3.13 python3 ""; do
    [ -n "$python" ] || { echo "Alicia needs Python 3.11 or newer on PATH." >&2; exit 1; }
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
done

if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    rm -rf .venv
    # Debian's Python comes without ensurepip until python3-venv is there.
    "$python" -c 'import ensurepip' 2>/dev/null || scripts/setup/debian.sh python3-venv
    "$python" -m venv .venv
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.txt
touch .venv/.uv
