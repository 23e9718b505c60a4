#!/bin/sh
# Builds wheels that carry the program rlrun, one per platform, into dist/. A user
# with such a wheel needs no Go. Arguments are platforms as Go names them; the
# default is all that are published.
#
#     python/wheels.sh linux/amd64
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
mkdir -p dist
for platform in "$@"; do
  os=${platform%/*} arch=${platform#*/} suffix=
  # The program is static: it needs no C library, so one wheel serves glibc and musl.
  case $platform in
    linux/amd64) tag=manylinux_2_17_x86_64.musllinux_1_1_x86_64 ;;
    linux/arm64) tag=manylinux_2_17_aarch64.musllinux_1_1_aarch64 ;;
    darwin/amd64) tag=macosx_12_0_x86_64 ;;
    darwin/arm64) tag=macosx_12_0_arm64 ;;
    windows/amd64) tag=win_amd64 suffix=.exe ;;
    *)
      echo "wheels.sh: no wheel is made for $platform" >&2
      exit 2
      ;;
  esac
  binary=$PWD/dist/$os-$arch/rlrun$suffix
  echo "wheels.sh: $platform: compiling rlrun takes a minute or more where Go has nothing cached"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=auto -ldflags='-s -w' -o "$binary" ./cmd/rlrun
  RLRUN_BINARY=$binary RLRUN_WHEEL_TAG=$tag "$python" -m pip wheel -q --disable-pip-version-check --no-deps -w dist ./python
  rm -r "dist/$os-$arch"
done
ls dist/*.whl
