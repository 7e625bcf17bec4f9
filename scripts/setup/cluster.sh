#!/usr/bin/env bash
# Redis and PgBouncer for the test of a cluster: only their programs, so that no service starts on this machine.
set -euo pipefail

folder="${XDG_CACHE_HOME:-$HOME/.cache}/alicia/bin"
[ -x "$folder/redis-server" ] && [ -x "$folder/pgbouncer" ] && exit 0
command -v apt-get >/dev/null || { echo "Please install redis-server and pgbouncer with this system's package manager." >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
apt-cache show pgbouncer redis-tools >/dev/null 2>&1 || "$here/debian.sh"
libraries=$(apt-cache depends --important pgbouncer redis-tools | sed -n 's/^ *Depends: \(lib[a-z0-9.+-]*\|lua-[a-z]*\)$/\1/p' | sort -u)
# shellcheck disable=SC2086
dpkg-query -W $libraries >/dev/null 2>&1 || "$here/debian.sh" $libraries
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
apt-get -qq -o APT::Sandbox::User=root download pgbouncer redis-tools
for package in ./*.deb; do dpkg-deb -x "$package" .; done
mkdir -p "$folder"
install usr/sbin/pgbouncer "$folder/pgbouncer"
# Debian's server and its checker are one program that goes by its name.
install usr/bin/redis-check-rdb "$folder/redis-server"
