# Sourced by the scripts beside it: makes .venv from pyproject.toml, once for each state of that file.
# Usage: make_environment run|dev

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=

find_python() {
  local python
  for python in "${KGSCHED_PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
    [ -n "$python" ] && command -v "$python" >/dev/null 2>&1 || continue
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  echo "kgsched needs Python 3.11 or later with the venv module; set KGSCHED_PYTHON to such an interpreter" >&2
  return 1
}

make_environment() {
  local wanted stamp=.venv/kgsched-$1 python
  wanted=$(cksum <pyproject.toml)
  [ "$(cat .venv/kgsched-dev 2>/dev/null)" = "$wanted" ] && return
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return
  python=$(find_python) || exit 1
  echo "making .venv with $("$python" --version), and installing what pyproject.toml names …" >&2
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  .venv/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
  if [ "$1" = dev ]; then
    .venv/bin/python -m pip install --quiet --editable . --group dev
  else
    .venv/bin/python -m pip install --quiet --editable .
  fi
  echo "$wanted" >"$stamp"
}

link_commands() {
  local command
  mkdir -p bin
  for command in kgsched graph_query graph_schedules; do
    ln -sfn "../.venv/bin/$command" "bin/$command"
  done
}
