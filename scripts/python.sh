# Finding a Python that is new enough; sourced by the scripts beside it.

find_python() {
    for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3.14 python3 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$name"
            return 0
        fi
    done
    found=$(python3 --version 2>/dev/null || echo "no python3 at all")
    echo "paos needs Python 3.11 or newer; found: $found." >&2
    echo "Install one (Debian, Ubuntu: apt-get install python3 python3-venv), or name it: make PYTHON=/path/to/python3.12" >&2
    return 1
}
