#!/bin/sh
# Installs ralph from a release archive on Linux or macOS:
#
#   curl -fsSL https://github.com/ralph-board/ralph/releases/latest/download/install.sh | sh
#
# Options, by environment:
#   RALPH_VERSION        the version to install, such as 0.2.0   [default: the latest release]
#   RALPH_INSTALL_DIR    the folder to install to                [default: ~/.local/bin]
#   RALPH_DOWNLOAD_BASE  the URL of the releases                 [default: the releases on GitHub]
set -eu

repository=https://github.com/ralph-board/ralph

fail() {
  echo "error: $1" >&2
  shift
  for hint in "$@"; do echo "hint: $hint" >&2; done
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

find_target() {
  system=$(uname -s)
  machine=$(uname -m)
  # A shell that Rosetta translates says x86_64 on an Apple silicon Mac.
  if [ "$system $machine" = "Darwin x86_64" ] && [ "$(sysctl -n hw.optional.arm64 2>/dev/null || true)" = 1 ]; then
    machine=arm64
  fi
  case "$system $machine" in
    "Linux x86_64" | "Linux amd64") echo x86_64-unknown-linux-musl ;;
    "Linux aarch64" | "Linux arm64") echo aarch64-unknown-linux-musl ;;
    "Darwin x86_64") echo x86_64-apple-darwin ;;
    "Darwin arm64") echo aarch64-apple-darwin ;;
    MINGW* | MSYS* | CYGWIN*) fail "this installer is for Linux and macOS" "on Windows, run install.ps1 in PowerShell" ;;
    *) fail "there is no prebuilt ralph for $system $machine" "build it from source with \`cargo install ralph-board\`" ;;
  esac
}

# download URL FILE: fails without a message, which the caller gives.
download() {
  if has curl; then
    case "$1" in
      https://*) curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --retry 3 --output "$2" "$1" ;;
      *) curl --fail --silent --show-error --location --output "$2" "$1" ;;
    esac
  elif has wget; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is installed"
  fi
}

sha256() {
  if has sha256sum; then
    sha256sum "$1"
  elif has shasum; then
    shasum -a 256 "$1"
  elif has openssl; then
    openssl dgst -sha256 -r "$1"
  else
    fail "cannot verify the download: none of sha256sum, shasum and openssl is installed"
  fi | cut -d ' ' -f 1
}

verify() {
  expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1; exit }' "$tmp/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS at $base has no checksum for $archive"
  actual=$(sha256 "$tmp/$archive")
  [ "$actual" = "$expected" ] ||
    fail "the checksum of $archive is wrong: expected $expected, got $actual" "nothing was installed; try again later"
}

# Renaming replaces a ralph that is running; overwriting it would fail.
place() {
  mkdir -p "$dir" || fail "cannot create $dir" "choose another folder with RALPH_INSTALL_DIR"
  if ! cp "$tmp/ralph-$target/ralph" "$dir/.ralph.new" || ! chmod 755 "$dir/.ralph.new" ||
    ! mv -f "$dir/.ralph.new" "$dir/ralph"; then
    rm -f "$dir/.ralph.new"
    fail "cannot write $dir/ralph" "choose another folder with RALPH_INSTALL_DIR"
  fi
}

report() {
  echo "installed $("$dir/ralph" --version) to $dir/ralph"
  first=$(command -v ralph || true)
  if [ -z "$first" ]; then
    echo "hint: $dir is not on your PATH; add it with: export PATH=\"$dir:\$PATH\""
  elif [ "$first" != "$dir/ralph" ]; then
    echo "hint: $first comes first on your PATH; remove it, or put $dir before it"
  fi
  echo "hint: \`ralph completions bash\` prints the completions for bash; zsh, fish and others work the same way"
}

# Everything runs from here, so that a partly downloaded script does nothing.
main() {
  target=$(find_target)
  archive=ralph-$target.tar.gz
  dir=${RALPH_INSTALL_DIR:-${HOME:?is not set}/.local/bin}
  base=${RALPH_DOWNLOAD_BASE:-$repository/releases}
  if [ -n "${RALPH_VERSION:-}" ]; then
    base=$base/download/v${RALPH_VERSION#v}
  else
    base=$base/latest/download
  fi
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  for file in SHA256SUMS "$archive"; do
    download "$base/$file" "$tmp/$file" || fail "cannot download $base/$file" "check the network, and RALPH_VERSION if you set it"
  done
  verify
  tar -xzf "$tmp/$archive" -C "$tmp" "ralph-$target/ralph" || fail "cannot unpack $archive"
  "$tmp/ralph-$target/ralph" --version >/dev/null || fail "the downloaded ralph does not run on this system"
  place
  report
}

main
