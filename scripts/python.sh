# Finding a Python that is new enough, and its environment; sourced by the scripts beside it.

# The Python that PYTHON names, and no other; without it, the newest that is there.
find_python() {
    for name in ${PYTHON:-python3.13 python3.12 python3.11 python3.14 python3 python}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$name"
            return 0
        fi
    done
    found=$("${PYTHON:-python3}" --version 2>/dev/null || echo "no ${PYTHON:-python3} at all")
    echo "paos needs Python 3.11 or newer; found: $found." >&2
    echo "Install one (Debian, Ubuntu: apt-get install python3 python3-venv), or name it: make PYTHON=/path/to/python3.12" >&2
    return 1
}

# `environment`: .venv, or, where PYTHON is of another version than .venv has, one of its own, .venv-3.13.
find_environment() {
    environment=.venv
    if [ -n "${PYTHON:-}" ] && [ -x .venv/bin/python ]; then
        version='import sys; print("%d.%d" % sys.version_info[:2])'
        wanted=$(find_python) || return 2
        wanted=$("$wanted" -c "$version")
        [ "$wanted" = "$(.venv/bin/python -c "$version")" ] || environment=.venv-$wanted
    fi
}
