# shellcheck shell=bash
# Sourced by the other scripts: requirements of the machine for a build, and functions that several scripts
# use.

# Flags of the builds that the scripts share in .build: without debugging information, which takes some time
# and which no script needs. 'LODESTORE_BUILD_FLAGS= tools/test' builds as 'swift test' does.
read -ra build_flags <<<"${LODESTORE_BUILD_FLAGS--debug-info-format none}"

complain() { printf '%s: %s\n' "${0##*/}" "$1" >&2; }

# Prints the reason why the script ends, and ends it.
stop() {
  complain "$1"
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

# Whether the compiler to be used finds a header. Package names differ between systems, and names of
# headers are equal on all systems.
has_header() {
  local compiler
  if command -v brew >/dev/null && [[ -e $(brew --prefix)/include/$1 ]]; then return 0; fi
  for compiler in clang cc gcc; do
    if command -v "$compiler" >/dev/null; then
      printf '#include <%s>\n' "$1" | "$compiler" -E -x c - >/dev/null 2>&1
      return
    fi
  done
  [[ -e /usr/include/$1 ]]
}

# Installs the package with a header: the arguments are the header, the package's name for apt-get,
# and its name for brew. Returns 1 with a message if the package cannot be installed.
offer_header() {
  local header=$1 deb=$2 formula=$3
  local as_root=()
  if has_header "$header"; then return; fi
  if command -v apt-get >/dev/null; then
    if ((EUID != 0)); then
      if ! command -v sudo >/dev/null; then
        complain "cannot install $deb: not root, and there is no sudo; run 'apt-get install $deb' as root, then this again"
        return 1
      fi
      as_root=(sudo)
    fi
    echo "Installing $deb: apt-get install $deb"
    # A list of packages that cannot be updated is often good enough; the install shows whether it is.
    ${as_root[@]+"${as_root[@]}"} apt-get update -qq || true
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$deb" >/dev/null || {
      complain "cannot install $deb: apt-get failed, see above; install it by hand, then run this again"
      return 1
    }
  elif command -v brew >/dev/null; then
    echo "Installing $formula: brew install $formula"
    brew install --quiet "$formula" || {
      complain "cannot install $formula: brew failed, see above; install it by hand, then run this again"
      return 1
    }
  else
    complain "cannot build: $header is missing, and there is neither apt-get nor brew to install it; install $deb or $formula, then run this again"
    return 1
  fi
  has_header "$header" || {
    complain "cannot build: $header is still not found after the install; is it where the compiler looks?"
    return 1
  }
}

require_lmdb() { offer_header lmdb.h liblmdb-dev lmdb || exit 1; }

# Requirements of the trait "Web" on Linux; macOS has them.
require_zlib() {
  if [[ $(uname) != Linux ]]; then return; fi
  offer_header zlib.h zlib1g-dev zlib || exit 1
}

# Requirements of the trait "Datasets".
require_zstd() { offer_header zstd.h libzstd-dev zstd || exit 1; }

# With libpq installed, builds have the module LodestorePostgres too, so that the documentation and the tests
# include it. Without libpq the module is empty.
if command -v pkg-config >/dev/null && pkg-config --exists libpq; then export LODESTORE_POSTGRES=1; fi

# Requirements of every product.
require_all() {
  require_swift
  require_lmdb
  require_zlib
  require_zstd
}

# Runs the tests of the package in a folder; further arguments go to 'swift test'.
#
# The folder .build is shared with the project, so that the store, NIO and swift-syntax are not built twice.
# SwiftPM keeps its build plan there and does not notice that the next plan is of another package, so the plan
# is deleted before and after.
test_package() {
  local folder=$1
  shift
  require_all
  trap forget_plan EXIT
  forget_plan
  swift test --package-path "$folder" --scratch-path .build ${build_flags[@]+"${build_flags[@]}"} "$@"
}
forget_plan() { rm -f .build/*.yaml .build/*/*/description.json; }

# Ends a lint with an error if the found list differs from the expected list. The arguments are the
# subject of the list, the expected and the found list, and the advice for a difference.
same_list() {
  if [[ $3 == "$2" ]]; then return; fi
  complain "$1 (<) are not where tools/${0##*/} says (>):"
  {
    diff <(echo "$3") <(echo "$2") || true
    echo "${4-}"
  } >&2
  exit 1
}
