# To be sourced: packages of the system, where this user may install them.
as_root_on_debian() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }
apt_install() {
    echo "bootstrap: installing system packages with apt-get: $*"
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 ||
        { apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }
}
