#!/usr/bin/env bash
# Makes sure that the pinned livekit-server is there: on PATH, in the user's cache, or built from its Go module.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$(sed -n 's#.*github.com/livekit/livekit-server v\([0-9.]*\).*#\1#p' go/livekit-server/go.mod)
target=${XDG_CACHE_HOME:-$HOME/.cache}/alicia/bin/livekit-server-$version
[ -x "$target" ] && exit 0
[ "$(livekit-server --version 2>/dev/null)" = "livekit-server version $version" ] && exit 0

needed=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go/livekit-server/go.mod)
have=$(go env GOVERSION 2>/dev/null | sed 's/^go\([0-9]*\.[0-9]*\).*/\1/' || true)
if [ "$(printf '%s\n' "$needed" "${have:-0}" | sort -V | head -n 1)" != "$needed" ]; then
    PATH="$(scripts/setup/toolchain.sh go):$PATH"
fi
echo "set-up: livekit-server $version (about three minutes, once)"
mkdir -p "$(dirname "$target")"
trap 'rm -f "$target.$$"' EXIT
(cd go/livekit-server && CGO_ENABLED=0 GOFLAGS="-buildvcs=false -mod=readonly" GOTOOLCHAIN=local \
    go build -trimpath -ldflags="-s -w" -o "$target.$$" github.com/livekit/livekit-server/cmd/server)
mv "$target.$$" "$target"
