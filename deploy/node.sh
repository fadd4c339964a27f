#!/bin/sh
# node.sh ARGUMENTS: runs Node 24 or later, the one of the packages or else that of PATH. Every npm script starts with it.
#
# An older Node refuses the flags of the scripts with `bad option`, before any code of Portolan could say what is missing. npm leaves an
# older Node first on PATH if `npm ci` failed, or if npm was told to run no install scripts. On a system with musl, such as Alpine, the
# Node of the packages cannot run.
#
# For Portolan itself it sets two variables of glibc, unless they are set:
#   MALLOC_ARENA_MAX         glibc keeps an arena of memory for each thread, and Portolan has a dozen threads.
#   MALLOC_MMAP_THRESHOLD_   A buffer of more bytes is given back to the system by itself when it is freed, not with the arena around it.
# The container image starts Node itself, so deploy/Dockerfile sets the same values; a test compares them.
fail() {
  printf 'portolan: %s\n' "$1" >&2
  exit 1
}

case " $* " in
*' src/portolan.js '*)
  export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
  export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-524288}"
  ;;
esac

own=node_modules/.bin/node
for node in "$own" node; do
  case $("$node" --version 2>/dev/null) in
  v2[4-9].* | v[3-9][0-9].* | v[1-9][0-9][0-9].*) exec "$node" "$@" ;;
  esac
  # npm writes this file when everything is installed.
  [ -e node_modules/.package-lock.json ] || fail 'the packages are not installed, or not all of them; run npm ci.'
done

"$own" --version >/dev/null 2>&1 && fail 'the packages are those of an earlier version of Portolan; run npm ci.'
found=$(node --version 2>/dev/null) && found="Node $found is too old" || found='no other Node was found'
[ -e "$own" ] && fail "the Node of the packages cannot run on this system, and $found; install Node 24 or later for this system."
fail "Node 24 is missing from the packages, and $found; run npm rebuild node --ignore-scripts=false, or install Node 24 or later."
