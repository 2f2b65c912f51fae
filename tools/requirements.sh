# shellcheck shell=bash
# Sourced by tools/test and tools/quickstart: what has to be on the machine before anything builds.

# Says why the script ends, and ends it.
stop() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

require_swift() {
  command -v swift >/dev/null ||
    stop "cannot build: 'swift' is not on the PATH; install Swift 6.1 or later: https://www.swift.org/install/"
  local version major minor
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
  major=${version%%.*}
  minor=${version#*.}
  if ((${major:-0} < 6 || (${major:-0} == 6 && ${minor:-0} < 1))); then
    stop "cannot build: Swift ${version:-of an unknown version} is installed, 6.1 or later is needed: https://www.swift.org/install/"
  fi
}

# Whether the compiler that will be used finds the header; package names differ, the header does not.
has_lmdb() {
  local compiler
  if command -v brew >/dev/null && [[ -e $(brew --prefix)/include/lmdb.h ]]; then return 0; fi
  for compiler in clang cc gcc; do
    if command -v "$compiler" >/dev/null; then
      printf '#include <lmdb.h>\n' | "$compiler" -E -x c - >/dev/null 2>&1
      return
    fi
  done
  [[ -e /usr/include/lmdb.h ]]
}

require_lmdb() {
  if has_lmdb; then return; fi
  local as_root=()
  if command -v apt-get >/dev/null; then
    if ((EUID != 0)); then
      command -v sudo >/dev/null ||
        stop "cannot install liblmdb-dev: not root, and there is no sudo; run 'apt-get install liblmdb-dev' as root, then this again"
      as_root=(sudo)
    fi
    echo "Installing LMDB's headers: apt-get install liblmdb-dev"
    # A list of packages that cannot be renewed is often good enough; the install tells.
    ${as_root[@]+"${as_root[@]}"} apt-get update -qq || true
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends liblmdb-dev >/dev/null ||
      stop "cannot install liblmdb-dev: apt-get failed, see above; install it by hand, then run this again"
  elif command -v brew >/dev/null; then
    echo "Installing LMDB: brew install lmdb"
    brew install --quiet lmdb ||
      stop "cannot install lmdb: brew failed, see above; install it by hand, then run this again"
  else
    stop "cannot build: LMDB's headers are missing, and there is neither apt-get nor brew to install them; install lmdb.h and liblmdb (liblmdb-dev, lmdb-devel or lmdb), then run this again"
  fi
  has_lmdb || stop "cannot build: lmdb.h is still not found after the install; is it where the compiler looks?"
}
