"""Generate python/src/rlrun/_pb from the protocol. Run it with make generate-python."""

import sys
from importlib.metadata import version
from pathlib import Path

from grpc_tools import protoc

HERE = Path(__file__).resolve().parent
WANT = "1.74.0"


def main() -> int:
    """Generate every file anew."""
    if version("grpcio-tools") != WANT:
        print(
            f"generate: grpcio-tools {version('grpcio-tools')}, want {WANT}: the output depends on it", file=sys.stderr
        )
        return 1
    out, status = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "src", 0
    for source, kinds in (
        (HERE.parent / "framework" / "plugin" / "plugin.proto", ("python", "pyi", "grpc_python")),
        (HERE / "src" / "rlrun" / "_pb" / "goplugin.proto", ("python", "pyi")),
    ):
        status |= protoc.main(
            ["", f"-Irlrun/_pb={source.parent}", *(f"--{k}_out={out}" for k in kinds), f"rlrun/_pb/{source.name}"]
        )
    return status


if __name__ == "__main__":
    sys.exit(main())
