# shellcheck shell=sh disable=SC2034
# Shared by the scripts: what they need, and how they say what they do. Sourced, from the top of the tree.

# The one list of packages: what the build and the tests need; the programs without which some tests are skipped; and
# what only the checks of .ci/run need.
build_packages="g++ cmake ninja-build ccache pkg-config libsqlite3-dev libsqlitecpp-dev libre2-dev libfmt-dev libspdlog-dev
  libcli11-dev nlohmann-json3-dev libasio-dev libtomlplusplus-dev libseccomp-dev libbpf-dev
  bpftool clang catch2 util-linux"
test_packages="e2fsprogs fish man-db systemd tzdata zsh"
# Servers, which start as they are installed: installed by themselves only where policy-rc.d forbids that, as it does in
# containers. 46 MB to fetch, 200 MB on the disk.
server_packages="prometheus prometheus-node-exporter victoria-metrics"
check_packages="git libclang-rt-dev llvm clang-tidy clang-format lld cppcheck shellcheck"
# What scripts/package and scripts/test-package need on this system.
package_packages="build-essential debhelper dpkg-dev lintian"
boot_packages="debootstrap systemd-container"

# What the build makes and sources include, for who compiles those without it.
made_headers="generated/store_sqlite/store/schema/schema_objects.h bpf/census.skel.h"

# Names the servers where they may be installed.
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

# copy_tree FOLDER: the tree as it is, without what git ignores. What was built in the folder before stays.
copy_tree() {
  mkdir -p "$1"
  find "$1" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -C "$1" -xf -
}

# make_system RELEASE FOLDER: a minimal system of another release of Debian or Ubuntu.
make_system() {
  system_release=$1
  system_folder=$2
  shift 2
  mkdir -p build
  rm -rf "$system_folder.new"
  # Ubuntu has half of the packages in its component universe, which Debian has not.
  case $system_release in noble) set -- --components=main,universe ;; esac
  debootstrap --variant=minbase "$@" "$system_release" "$system_folder.new" >build/debootstrap.log || {
    tail "build/debootstrap.log"
    return 1
  }
  mv "$system_folder.new" "$system_folder"
}

# within FOLDER TEXT [ARGUMENT …]: runs a shell's text in the system there, with namespaces of its own: the mounts and all
# processes are gone when it ends, however that is. Tests that mount need a root that is a mount.
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
