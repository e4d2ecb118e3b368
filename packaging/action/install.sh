#!/usr/bin/env bash
# The action's first step: makes ralph available and says where it is.
#
# Environment:
#   RALPH_PROGRAM    a ralph to use instead of installing one: a path, or a name on the PATH
#   RALPH_VERSION    the release to install, such as 0.2.0            [default: the latest release]
#   GITHUB_OUTPUT    gets `program=PATH`
set -euo pipefail

if [ -n "${RALPH_PROGRAM:-}" ]; then
  program=$(command -v "$RALPH_PROGRAM") || {
    echo "::error::the input \`ralph\` names a program that does not exist: $RALPH_PROGRAM"
    exit 1
  }
  program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
else
  RALPH_INSTALL_DIR=${RUNNER_TEMP:?is not set}/ralph-board/bin
  export RALPH_INSTALL_DIR
  # The installer compares the archive with the checksum that the release has for it.
  sh "$(dirname "$0")/../install.sh"
  program=$RALPH_INSTALL_DIR/ralph
fi
"$program" --version
echo "program=$program" >> "${GITHUB_OUTPUT:?is not set}"
