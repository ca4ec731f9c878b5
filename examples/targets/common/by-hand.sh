# Sourced by each `by-hand`: starts the application beside it and a provider, and gives `order` and `effects`.
#
# EXAMPLE_PYTHON names the Python with the packages of requirements.txt; where the application wants a database,
# DATABASE_URL names an empty one.
set -euo pipefail
cd "$(dirname "$0")"
python=${EXAMPLE_PYTHON:-python3}
free() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
provider=$(free)
export PORT PROVIDER_URL=http://127.0.0.1:$provider/ PYTHONPATH=../common
PORT=$(free)
scratch=$(mktemp -d)
"$python" ../common/provider.py "$provider" &
pids=$!
if grep -q '^migrate' onejob.toml; then "$python" app.py migrate; fi
"$python" app.py >"$scratch/log" 2>&1 &
pids="$pids $!"
# shellcheck disable=SC2086
trap 'kill $pids 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT
curl -s -o /dev/null --retry 100 --retry-connrefused --retry-delay 1 --retry-all-errors --max-time 60 "http://127.0.0.1:$PORT/"
curl -s -o /dev/null --retry 100 --retry-connrefused --retry-delay 1 --max-time 60 "$PROVIDER_URL"
route=$(sed -n 's/^request = "POST \(.*\)"/\1/p' onejob.toml | head -1)

# order OWNER KEY BODY: places an order, and prints the status and the answer. An empty KEY sends none, OWNER `nobody` no token.
order() {
  local headers=(-H 'content-type: application/json')
  [ "$1" = nobody ] || headers+=(-H "authorization: Bearer $1-of-the-example")
  [ -z "$2" ] || headers+=(-H "idempotency-key: $2")
  curl -s -X POST "http://127.0.0.1:$PORT$route" "${headers[@]}" -d "$3" -w ' (%{http_code})' | sed "s/^/$1, key ${2:-none}, $3: /"
  echo
}

# effects: how often the provider was called.
effects() { curl -s "$PROVIDER_URL"; echo; }
