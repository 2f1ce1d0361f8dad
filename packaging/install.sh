#!/bin/sh
# Installs the wellhead binary for this system, after its checksum has been verified.
#
#   sudo sh install.sh                 into /usr/local/bin
#   WELLHEAD_BIN=~/bin sh install.sh   into a directory of yours, without root
#
# WELLHEAD_RELEASES names a mirror of the release page.
set -eu

version=0.2.0
releases=${WELLHEAD_RELEASES:-https://releases.wellhead.example}
bin=${WELLHEAD_BIN:-/usr/local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "There is no script for $(uname -s). Download a binary from $releases/$version/" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) fail "There is no binary for $(uname -m)." ;;
esac
libc=
if [ "$system" = linux ] && ls /lib/ld-musl-* > /dev/null 2>&1; then libc=-musl; fi
name=wellhead-$version-$system-$machine$libc

if command -v curl > /dev/null; then
  fetch() { curl -fsSL -o "$2" "$1"; }
elif command -v wget > /dev/null; then
  fetch() { wget -q -O "$2" "$1"; }
else
  fail "curl or wget is required."
fi
if command -v sha256sum > /dev/null; then
  digest() { sha256sum "$1" | cut -d ' ' -f 1; }
elif command -v shasum > /dev/null; then
  digest() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
else
  fail "sha256sum or shasum is required: nothing is installed without a checksum."
fi

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
fetch "$releases/$version/SHA256SUMS" "$directory/SHA256SUMS" ||
  fail "The checksums could not be downloaded from $releases/$version/."
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$directory/SHA256SUMS")
[ -n "$expected" ] || fail "SHA256SUMS has no checksum of $name."
fetch "$releases/$version/$name" "$directory/wellhead" ||
  fail "$name could not be downloaded from $releases/$version/."
actual=$(digest "$directory/wellhead")
[ "$actual" = "$expected" ] ||
  fail "The checksum of $name must be $expected; got $actual. Nothing was installed."

mkdir -p "$bin" || fail "$bin cannot be created. Use sudo, or set WELLHEAD_BIN."
chmod 0755 "$directory/wellhead"
# Under another name first: a program that runs is not overwritten.
cp "$directory/wellhead" "$bin/.wellhead.new" || fail "$bin cannot be written. Use sudo, or set WELLHEAD_BIN."
mv "$bin/.wellhead.new" "$bin/wellhead"
echo "Installed $bin/wellhead $version. Try it with: $bin/wellhead dev"
