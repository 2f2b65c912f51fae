# shellcheck shell=bash
# Sourced by tools/bench: a PostgreSQL server on loopback, for the benchmark of copies.

# Sets 'connection' to the connection string of a new server, and 'psql' to the path of that program. The
# server ends with the script. Without PostgreSQL the script stops.
# shellcheck disable=SC2034
start_postgres() {
  local programs port
  programs=$(find_postgres) ||
    stop "cannot measure: there is no 'initdb' of PostgreSQL; install the server, as by 'apt install postgresql'"
  psql=$programs/psql
  server_files=$(mktemp -d)
  trap end_postgres EXIT
  # No server runs as root.
  if [[ $EUID == 0 ]]; then chown postgres "$server_files"; fi
  as_server "$programs/initdb" --pgdata="$server_files/data" --username=postgres --auth=trust \
    --no-sync --encoding=UTF8 --locale=C >/dev/null
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  cat >>"$server_files/data/postgresql.conf" <<EOF
port = $port
listen_addresses = '127.0.0.1'
unix_socket_directories = '$server_files'
wal_level = logical
fsync = off
shared_buffers = 512MB
max_wal_size = 4GB
EOF
  as_server "$programs/pg_ctl" --pgdata="$server_files/data" --log="$server_files/log" --wait start \
    >/dev/null || stop "cannot start PostgreSQL: $(tail "$server_files/log")"
  connection="host=127.0.0.1 port=$port user=postgres dbname=postgres"
}

# Prints the directory with 'initdb'.
find_postgres() {
  local file found=
  for file in /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb \
    /usr/local/opt/postgresql*/bin/initdb; do
    if [[ -x $file ]]; then found=$file; fi
  done
  [[ -n $found ]] || found=$(command -v initdb) || return 1
  dirname "$found"
}

as_server() {
  if [[ $EUID == 0 ]]; then (cd /tmp && runuser -u postgres -- "$@"); else "$@"; fi
}

end_postgres() {
  as_server "$(dirname "$psql")/pg_ctl" --pgdata="$server_files/data" --mode=immediate --wait stop \
    >/dev/null 2>&1 || true
  rm -rf "$server_files"
}
