#!/usr/bin/env bash
# node.sh COMMAND…: runs it with Node.js from PATH when that is new enough, and otherwise with the wheel's.
set -euo pipefail
cd "$(dirname "$0")/../.."

have=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/' || true)
if [ "${have:-0}" -lt 20 ] || ! command -v npm >/dev/null; then
    PATH="$(scripts/setup/toolchain.sh node):$PATH"
fi
exec "$@"
