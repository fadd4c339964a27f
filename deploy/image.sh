#!/usr/bin/env bash
# Builds Portolan's image of deploy/Dockerfile without a daemon. See --help.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

help() {
  cat <<'HELP'
deploy/image.sh [options]   builds Portolan's image without a daemon

  --base IMAGE     the base of the image; `offline` makes one of Debian packages
                   (default: gcr.io/distroless/cc-debian12, or offline where its registry does not answer)
  --mirror URL     Debian's mirror for the offline base (default: that of mmdebstrap)
  --tag NAME:TAG   name of the image (default: ghcr.io/portolan-dev/portolan with the version of package.json)
  --out DIR        where the files go (default: dist-image)
  --keep-npm DIR   folder for npm's cache, so that the next build downloads less
  --help           this text

It writes DIR/portolan-VERSION.oci.tar, an OCI archive, and DIR/portolan-VERSION.sbom.cdx.json, the packages in it. The last line of
standard output is JSON: the digest of the image, its size as a registry keeps it and unpacked, the base, and both files.

Times in the image are those of the commit, or SOURCE_DATE_EPOCH. Two builds of one commit on the same base have the same digest.
It needs root and the Debian packages buildah and mmdebstrap; for the offline base also curl.
HELP
}

fail() {
  printf 'image: %s\n' "$1" >&2
  exit 1
}

base='' mirror='' tag='' out=dist-image keep_npm=''
while (($#)); do
  case $1 in
  --help) help && exit ;;
  --base | --mirror | --tag | --out | --keep-npm)
    (($# > 1)) || fail "$1 needs a value; see deploy/image.sh --help."
    name=${1#--} && printf -v "${name//-/_}" %s "$2" && shift 2
    ;;
  *) fail "unknown argument $1; see deploy/image.sh --help." ;;
  esac
done
[[ $(id -u) == 0 ]] || fail 'run it as root, for example with sudo.'
command -v buildah >/dev/null || fail 'buildah is missing; install it, on Debian with: apt-get install buildah mmdebstrap'

version=$(awk -F'"' '$2 == "version" { print $4; exit }' package.json)
revision=$(git rev-parse HEAD 2>/dev/null || true)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
tag=${tag:-ghcr.io/portolan-dev/portolan:$version}
mkdir -p "$out"
archive=$out/portolan-$version.oci.tar
bill=$out/portolan-$version.sbom.cdx.json

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Images of the user are not touched: these are in a folder of their own.
build() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }

# from_packages KIND: an image of Debian packages; prints its name.
from_packages() {
  command -v mmdebstrap >/dev/null || fail 'mmdebstrap is missing, which makes the offline base; on Debian: apt-get install mmdebstrap'
  deploy/image/offline-base.sh "$1" "$work/$1" "$mirror" >&2
  mkdir "$work/context"
  tar -c -C "$work/$1" . >"$work/context/base.tar"
  build bud --quiet --identity-label=false --timestamp "$epoch" --tag "localhost/portolan-$1" --file - "$work/context" >/dev/null <<DOCKERFILE
FROM scratch
ADD base.tar /
ENV PATH=/usr/local/bin:/usr/bin:/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
DOCKERFILE
  rm -rf "${work:?}/$1" "$work/context"
  printf 'localhost/portolan-%s' "$1"
}

if [[ -z $base ]]; then
  base=gcr.io/distroless/cc-debian12
  if ! build pull --quiet "$base" >/dev/null 2>&1; then
    printf 'image: %s cannot be pulled; the base is made of Debian packages.\n' "$base" >&2
    base=offline
  fi
fi
arguments=(--build-arg "BASE=$base")
if [[ $base == offline ]]; then
  runtime=$(from_packages runtime)
  builder=$(from_packages build)
  arguments=(--build-arg "BASE=$runtime" --build-arg "BUILD_BASE=$builder")
fi
if [[ -n $keep_npm ]]; then
  mkdir -p "$keep_npm"
  arguments+=(--volume "$(realpath "$keep_npm"):/root/.npm")
fi

build bud --quiet --isolation chroot --layers=false --identity-label=false --timestamp "$epoch" "${arguments[@]}" \
  --label "org.opencontainers.image.version=$version" \
  --label "org.opencontainers.image.revision=$revision" \
  --label "org.opencontainers.image.created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)" \
  --label "org.opencontainers.image.base.name=$base" \
  --annotation "org.opencontainers.image.base.name=${base%@*}" \
  --tag "$tag" --file deploy/Dockerfile . >/dev/null
build push --quiet --digestfile "$work/digest" "$tag" "oci:$work/oci:${tag##*:}"
digest=$(cat "$work/digest")

blob() { printf '%s/oci/blobs/sha256/%s' "$work" "${1#sha256:}"; }
layers=$(grep -o '"mediaType":"[^"]*layer[^"]*","digest":"[^"]*"' "$(blob "$digest")" | grep -o 'sha256:[0-9a-f]*')
compressed=0 unpacked=0
for layer in $layers; do
  ((compressed += $(stat -c %s "$(blob "$layer")")))
  ((unpacked += $(gzip -dc "$(blob "$layer")" | wc -c)))
done
gzip -dc "$(blob "${layers##*$'\n'}")" | tar -xO portolan/sbom.cdx.json >"$bill"
tar -c --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$epoch" -C "$work/oci" . >"$archive"

printf '{"image":"%s","digest":"%s","compressedBytes":%d,"unpackedBytes":%d,"base":"%s","archive":"%s","sbom":"%s"}\n' \
  "$tag" "$digest" "$compressed" "$unpacked" "$base" "$archive" "$bill"
