# shellcheck shell=sh
# Functions for the tests of the installed package in this folder. The tests run as root, each in its own system.

export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive

# check WHAT COMMAND …: reports success, or ends the test.
check() {
  what=$1
  shift
  "$@" || {
    echo "NOT SO: $what: $*" >&2
    exit 1
  }
  echo "   $what"
}

no() {
  ! "$@"
}

quiet() {
  "$@" >/dev/null 2>&1
}

# until_so WHAT COMMAND …: the same, with retries.
until_so() {
  what=$1
  shift
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || {
      echo "NOT SO after a minute: $what: $*" >&2
      exit 1
    }
    sleep 0.1
  done
  echo "   $what"
}

# Prints the value of a key in the JSON of `memoir status`.
status_of() {
  memoir status --format json | sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p"
}

is() {
  [ "$(status_of "$1")" = "$2" ]
}

at_least() {
  [ "$(status_of "$1")" -ge "$2" ]
}

apt_install() {
  apt-get -qq install -y --no-install-recommends "$@" </dev/null >/tmp/apt.log 2>&1 || {
    cat /tmp/apt.log >&2
    return 1
  }
}
