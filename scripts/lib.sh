# shellcheck shell=sh disable=SC2034
# Shared by the scripts: what they need, and how they say what they do. Sourced, from the top of the tree.

# The one list of packages: what the build and the tests need; the programs without which some tests are skipped; and
# what only the checks of .ci/run need.
build_packages="g++ cmake ninja-build ccache pkg-config libsqlite3-dev libsqlitecpp-dev libre2-dev libfmt-dev libspdlog-dev
  libcli11-dev nlohmann-json3-dev libasio-dev libtomlplusplus-dev libsmartcols-dev libseccomp-dev libbpf-dev
  bpftool clang catch2 util-linux"
test_packages="e2fsprogs fish man-db systemd tzdata zsh"
check_packages="git libclang-rt-dev clang-tidy clang-format"

# What the build makes and sources include, for who compiles those without it.
made_headers="generated/store_sqlite/store/sqlite/schema_objects.h bpf/census.skel.h"

say() {
  printf '\n== %s\n' "$*"
}

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Runs a step and says how long it took.
step() {
  step_title=$1
  shift
  say "$step_title"
  step_began=$(date +%s)
  "$@" || fail "failed: $step_title"
  printf -- '-- %s: %s s\n' "$step_title" "$(($(date +%s) - step_began))"
}

# Names those of the packages that are not installed. Of a package that is only known of (removed, or recommended by
# another) the status is "not-installed".
missing_packages() {
  for package in "$@"; do
    case " $(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null)" in
      *" installed "*) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# Installs what is not there. Returns at once, without the network, if nothing is missing.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system: the configuration will say what it does not find."
    return 0
  fi
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  [ "$(id -u)" = 0 ] || fail "these packages are missing; as root: apt-get install $missing"
  export DEBIAN_FRONTEND=noninteractive
  say "Installing $missing"
  apt-get -qq update </dev/null || fail "apt-get update failed"
  # shellcheck disable=SC2086 # a list of words
  apt-get -qq install -y --no-install-recommends $missing </dev/null >/dev/null || fail "apt-get install failed"
}

# build PRESET [CMake option …]: configures and builds. $targets: what to build, if not all. From nothing, several source
# files are compiled as one, in half the time; who works on the code has each compiled alone by `cmake --preset release`.
# With $werror a warning ends it: in CI, not where a newer compiler has warnings that this code has never seen.
build() {
  preset=$1
  shift
  # CMake takes it from here when it configures for the first time.
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  [ -f "build/$preset/CMakeCache.txt" ] || set -- -DCMAKE_UNITY_BUILD=ON "$@"
  cmake --preset "$preset" ${werror:+-DCMAKE_COMPILE_WARNING_AS_ERROR=ON} "$@" >/dev/null || return 1
  # shellcheck disable=SC2086 # a list of words
  cmake --build --preset "$preset" --parallel "${jobs:-$(nproc)}" ${targets:+--target $targets}
}
