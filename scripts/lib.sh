# shellcheck shell=sh disable=SC2034
# Shared by the scripts: packages and messages. Sourced, from the top of the tree.

# All packages: for the build and the tests, then programs without which some tests are skipped, and then tools that
# only the checks of .ci/run need.
build_packages="g++ cmake ninja-build ccache pkg-config libsqlite3-dev libsqlitecpp-dev libre2-dev libfmt-dev libspdlog-dev
  libcli11-dev nlohmann-json3-dev libasio-dev libtomlplusplus-dev libncurses-dev libseccomp-dev libbpf-dev
  bpftool clang catch2 util-linux"
test_packages="e2fsprogs fish man-db systemd tzdata zsh"
# Servers that start when they are installed. They are installed automatically only if policy-rc.d prevents the start,
# as in containers. 46 MB to download, 200 MB on disk.
server_packages="prometheus prometheus-node-exporter victoria-metrics"
check_packages="git libclang-rt-dev llvm clang-tidy clang-format lld cppcheck shellcheck"
# Needed by scripts/package and scripts/test-package on this system.
package_packages="build-essential debhelper dpkg-dev lintian"
boot_packages="debootstrap systemd-container"

# Generated headers that sources include, for tools that compile without the build.
made_headers="generated/store_sqlite/store/schema/schema_objects.h bpf/census.skel.h"

# Prints the servers if they may be installed.
servers() {
  status=0
  [ ! -x /usr/sbin/policy-rc.d ] || /usr/sbin/policy-rc.d prometheus start >/dev/null 2>&1 || status=$?
  [ "$status" != 101 ] || echo "$server_packages"
}

say() {
  printf '\n== %s\n' "$*"
}

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Runs a step and prints its duration.
step() {
  step_title=$1
  shift
  say "$step_title"
  step_began=$(date +%s)
  "$@" || fail "failed: $step_title"
  printf -- '-- %s: %s s\n' "$step_title" "$(($(date +%s) - step_began))"
}

# Prints the packages that are not installed. dpkg also knows packages that were removed or are only recommended; their
# status is "not-installed".
missing_packages() {
  for package in "$@"; do
    case " $(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null)" in
      *" installed "*) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# Installs missing packages. Returns at once, without the network, if none is missing.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system: CMake will report what is missing."
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

# build PRESET [CMake option …]: configures and builds $targets, by default all. A new build folder compiles several source
# files as one, which takes half the time; for development `cmake --preset release` compiles each file alone. With $werror
# a warning is an error. CI sets it, but other users may have newer compilers with new warnings.
build() {
  preset=$1
  shift
  # CMake reads it when it configures for the first time.
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  [ -f "build/$preset/CMakeCache.txt" ] || set -- -DCMAKE_UNITY_BUILD=ON "$@"
  cmake --preset "$preset" ${werror:+-DCMAKE_COMPILE_WARNING_AS_ERROR=ON} "$@" >/dev/null || return 1
  # shellcheck disable=SC2086 # a list of words
  cmake --build --preset "$preset" --parallel "${jobs:-$(nproc)}" ${targets:+--target $targets}
}

# copy_tree FOLDER: copies the tree with its local changes, without files that git ignores. Earlier build results in
# FOLDER are kept.
copy_tree() {
  mkdir -p "$1"
  find "$1" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -C "$1" -xf -
}

# make_system RELEASE FOLDER: creates a minimal system of another release of Debian or Ubuntu.
make_system() {
  system_release=$1
  system_folder=$2
  shift 2
  mkdir -p build
  rm -rf "$system_folder.new"
  # In Ubuntu half of the packages are in the component universe, which Debian does not have.
  case $system_release in noble) set -- --components=main,universe ;; esac
  debootstrap --variant=minbase "$@" "$system_release" "$system_folder.new" >build/debootstrap.log || {
    tail "build/debootstrap.log"
    return 1
  }
  mv "$system_folder.new" "$system_folder"
}

# within FOLDER TEXT [ARGUMENT …]: runs a shell script in the system in FOLDER. It has its own namespaces, so that its mounts
# and processes vanish however it ends. FOLDER becomes a mount, because tests that mount need a root that is one.
# shellcheck disable=SC2016 # expanded in there
within() {
  unshare --mount --propagation private --pid --fork --kill-child sh -euc '
    root=$1
    shift
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    unset TMPDIR
    HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin exec chroot "$root" sh -euc "$@"' within "$@"
}
