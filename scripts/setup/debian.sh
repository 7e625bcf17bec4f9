#!/usr/bin/env bash
# Installs Debian packages by name, as root or through sudo, or says what to type.
set -euo pipefail

run=()
if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || { echo "Please run: sudo apt-get install $*" >&2; exit 1; }
    run=(sudo -n)
fi
command -v apt-get >/dev/null || { echo "Please install $* with this system's package manager." >&2; exit 1; }
# Set-up steps run side by side, but apt serves one at a time.
exec 9>"${TMPDIR:-/tmp}/alicia-apt-$(id -u).lock"
flock 9
echo "set-up: Debian packages $*"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
"${run[@]}" apt-get -o DPkg::Lock::Timeout=300 update -qq >"$log" 2>&1 &&
    "${run[@]}" apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" >>"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; exit 1; }
rm -f "$log"
