"""Runs the ralph program that this wheel installed beside Python's other scripts."""

import os
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

NAME = "ralph.exe" if os.name == "nt" else "ralph"


def find_program():
    """The path of the installed program, or None.

    The list of installed files comes first: another ralph may be in the folder of scripts, or earlier on the PATH.
    """
    try:
        files = metadata.files("ralph-board") or []
    except metadata.PackageNotFoundError:
        files = []
    places = [Path(file.locate()) for file in files if file.name == NAME]
    places.append(Path(sysconfig.get_path("scripts"), NAME))
    # `pip install --target DIR` puts scripts into DIR/bin.
    places.append(Path(__file__).resolve().parent.parent / "bin" / NAME)
    return next((str(place.resolve()) for place in places if place.is_file()), None)


def main():
    program = find_program()
    if program is None:
        print("error: the ralph program is missing from this installation", file=sys.stderr)
        print("hint: run `pip install --force-reinstall ralph-board`", file=sys.stderr)
        # 127 is what shells return for a missing program; ralph itself never does.
        return 127
    command = [program, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(program, command)
    # On Windows exec starts a second process and ends this one at once, and the shell would not wait for ralph.
    return run_and_wait(command)


def run_and_wait(command):
    child = subprocess.Popen(command)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            # The console sends Ctrl-C to ralph too, and ralph decides when to end.
            pass
