#!/usr/bin/env bash
# offline-base.sh runtime|build FOLDER [MIRROR]: the root file system of a base, from Debian packages, where no registry of images can be
# reached. It needs root, mmdebstrap, and curl for `build`.
#
#   runtime   the files of a distroless cc image: glibc, libstdc++, certificates, time zones; no shell and no package manager
#   build     the same with dash and coreutils, and Node and npm from the npm registry
#
# Packages are unpacked, and no script of theirs runs. What scripts would make is made here: the bundle of certificates and two users.
# The control file of each package is in /var/lib/dpkg/status.d, as in distroless images.
set -euo pipefail

kind=$1 target=$2 mirror=${3:-}
suite=bookworm
packages=(base-files netbase media-types tzdata ca-certificates libc6 gcc-12-base libgcc-s1 libgomp1 libstdc++6)
if [[ $kind == build ]]; then
  packages+=(dash coreutils libacl1 libattr1 libgmp10 libselinux1 libpcre2-8-0)
fi
source_folder=$(cd "$(dirname "$0")/../.." && pwd)

# mmdebstrap finds the mirrors, checks signatures, and has apt download the packages named here without what they depend on.
export PACKAGES="${packages[*]}"
# shellcheck disable=SC2016 # mmdebstrap's shell expands these.
mmdebstrap --quiet --variant=custom --format=directory \
  --customize-hook='mkdir "$1/debs" && cd "$1/debs" && apt-get -qq -o APT::Sandbox::User=root download $PACKAGES' \
  "$suite" "$target.apt" ${mirror:+"$mirror"}

mkdir -p "$target/var/lib/dpkg/status.d"
for file in "$target.apt"/debs/*.deb; do
  dpkg-deb --extract "$file" "$target"
  dpkg-deb --field "$file" >"$target/var/lib/dpkg/status.d/$(dpkg-deb --field "$file" Package)"
done
rm -rf "$target.apt"

cd "$target"
find usr/share/doc ! -type d ! -name copyright -delete
rm -rf usr/share/{man,info,lintian,locale,bug,gcc,gdb,dict,menu} usr/games usr/src
find etc/ssl usr/share/ca-certificates -name '*.crt' -print0 | LC_ALL=C sort -z | xargs -0 cat >etc/ssl/certs/ca-certificates.crt
printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >etc/passwd
printf 'root:x:0:\nnonroot:x:65532:\n' >etc/group
mkdir -p run var && rm -rf var/run && ln -s /run var/run
mkdir -p -m 1777 tmp
install -d -o 65532 -g 65532 -m 700 home/nonroot

if [[ $kind == build ]]; then
  # npm trusts whom this machine trusts, such as a proxy with an authority of its own. Nothing of this base gets into the image.
  cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/
  # The package `node` of the lock has the version of the one with the binary.
  node=$(awk -F'"' '/"node_modules\/node"/ { found = 1 } found && $2 == "version" { print $4; exit }' "$source_folder/package-lock.json")
  npm=11.19.1
  case $(dpkg --print-architecture) in amd64) arch=x64 ;; *) arch=$(dpkg --print-architecture) ;; esac
  registry=https://registry.npmjs.org
  mkdir -p usr/lib/node_modules/npm
  curl -fsSL "$registry/node-linux-$arch/-/node-linux-$arch-$node.tgz" | tar -xz -C usr --strip-components=1 package/bin/node
  curl -fsSL "$registry/npm/-/npm-$npm.tgz" | tar -xz -C usr/lib/node_modules/npm --strip-components=1
  ln -s ../lib/node_modules/npm/bin/npm-cli.js usr/bin/npm
  printf 'cafile=/etc/ssl/certs/ca-certificates.crt\n' >usr/lib/node_modules/npm/npmrc
fi
