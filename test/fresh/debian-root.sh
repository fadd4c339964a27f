#!/usr/bin/env bash
# debian-root.sh SUITE FOLDER: the root file system of a minimal Debian with its own nodejs and npm, and nothing that compiles.
#
# It needs root and mmdebstrap. Packages are unpacked, and no script of theirs runs. A folder that is there already is kept, so it can be
# in a cache; remove it to get newer packages.
set -euo pipefail

suite=$1 target=$2
[[ ! -e $target ]] || exit 0
mkdir -p "$(dirname "$target")"
trap 'rm -rf "$target.new"' EXIT
rm -rf "$target.new"
mmdebstrap --quiet --variant=extract --format=directory \
  --include=base-files,base-passwd,libc-bin,dash,coreutils,sed,grep,ca-certificates,nodejs,npm "$suite" "$target.new"

cd "$target.new"
printf 'root:x:0:0:root:/root:/bin/sh\nuser:x:65532:65532::/home/user:/bin/sh\n' >etc/passwd
printf 'root:x:0:\nuser:x:65532:\n' >etc/group
# Places for what a test mounts.
mkdir -p home/user opt proc dev tmp
touch etc/hosts etc/resolv.conf etc/ssl/certs/ca-certificates.crt
cd - >/dev/null
mv "$target.new" "$target"
