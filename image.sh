#!/usr/bin/env bash
# Builds a container image of rlrun: with docker or podman where one works, otherwise
# without them as an archive that both can load, and that Apptainer can read.
#   ./image.sh [NAME]      NAME is rlrun:latest by default
# ENGINES= (empty) makes the archive in any case, ARCHIVE=FILE names it. RLRUN_BINARY=FILE is a
# program that is built already, for Linux and without a C library.
set -euo pipefail
umask 022 # else the modes in the image depend on who builds it
cd "$(dirname "$0")"
name=${1:-rlrun:latest}
archive=${ARCHIVE:-dist/rlrun-image.tar}

for engine in ${ENGINES-docker podman}; do
  if command -v "$engine" >/dev/null && "$engine" info >/dev/null 2>&1; then
    exec "$engine" build -t "$name" .
  fi
done

arch=$(go env GOARCH)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/root/usr/local/bin" "$work/root/usr/share/doc/rlrun" "$work/image" "$(dirname "$archive")"
mkdir -m 1777 "$work/root/tmp"
if [ -n "${RLRUN_BINARY:-}" ]; then
  install -m 755 "$RLRUN_BINARY" "$work/root/usr/local/bin/rlrun"
else
  CGO_ENABLED=0 GOOS=linux go build -trimpath -buildvcs=auto -ldflags='-s -w' -o "$work/root/usr/local/bin/rlrun" ./cmd/rlrun
fi
cp LICENSE cmd/rlrun/internal/licensescmd/notices.txt "$work/root/usr/share/doc/rlrun/"
# The same bytes from the same source: no times, no owners.
pack() { tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner "$@"; }
pack -C "$work/root" -cf "$work/image/layer.tar" tmp usr
layer=$(sha256sum "$work/image/layer.tar" | cut -d' ' -f1)
cat >"$work/image/config.json" <<JSON
{"architecture":"$arch","os":"linux","created":"1970-01-01T00:00:00Z",
"config":{"Entrypoint":["/usr/local/bin/rlrun"],"Env":["PATH=/usr/local/bin:/usr/bin:/bin","HOME=/tmp"],
"Labels":{"org.opencontainers.image.title":"rlrun","org.opencontainers.image.licenses":"MIT"}},
"rootfs":{"type":"layers","diff_ids":["sha256:$layer"]},"history":[{"created":"1970-01-01T00:00:00Z","created_by":"rlrun image.sh"}]}
JSON
cat >"$work/image/manifest.json" <<JSON
[{"Config":"config.json","RepoTags":["$name"],"Layers":["layer.tar"]}]
JSON
pack -C "$work/image" -cf "$archive" config.json layer.tar manifest.json
echo "Without docker and podman: $archive holds $name. Load it: docker load -i FILE, podman load -i FILE,"
echo "or apptainer build rlrun.sif docker-archive:FILE"
