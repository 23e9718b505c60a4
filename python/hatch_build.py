"""Puts the program rlrun into a wheel.

``wheels.sh`` builds the program for a platform and names it in ``RLRUN_BINARY``, and
the wheel's platform tag in ``RLRUN_WHEEL_TAG``. Without these variables the wheel
is pure Python, as an editable install is.
"""

import os
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Binary(BuildHookInterface):
    """Adds the program to the scripts of the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        """Name the program and the platform."""
        binary = os.environ.get("RLRUN_BINARY")
        if not binary:
            return
        name = "rlrun.exe" if binary.endswith(".exe") else "rlrun"
        build_data["shared_scripts"] = {binary: name}
        notices = Path(self.root).parent / "cmd/rlrun/internal/licensescmd/notices.txt"
        build_data["force_include"][str(notices)] = "rlrun/notices.txt"  # of the modules in the program
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['RLRUN_WHEEL_TAG']}"
