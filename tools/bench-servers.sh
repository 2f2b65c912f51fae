# shellcheck shell=bash
# Sourced by tools/bench: S3-compatible servers on loopback, for the benchmark of replicas.

# Sets 'addresses' to those of the buckets on the servers that could be started, with commas between them. The
# servers end with the script.
start_servers() {
  addresses=
  server_files=$(mktemp -d)
  server_ids=()
  trap end_servers EXIT
  export AWS_ACCESS_KEY_ID=bench AWS_SECRET_ACCESS_KEY=bench-secret AWS_REGION=us-east-1
  local port
  local moto=${MOTO_SERVER:-$(command -v moto_server || true)}
  if [[ -n $moto ]]; then
    port=$(free_port)
    start_server "$port" "$moto" -H 127.0.0.1 -p "$port"
  else
    complain "skipped: moto, as there is no 'moto_server'; MOTO_SERVER can name it"
  fi
  local weed=${WEED_SERVER:-$(command -v weed || true)}
  if [[ -n $weed ]]; then
    port=$(free_port)
    local arguments=() name
    for name in s3.port.grpc master.port master.port.grpc volume.port volume.port.grpc filer.port \
      filer.port.grpc; do
      arguments+=("-$name=$(free_port)")
    done
    echo '{"identities":[{"name":"bench","credentials":[{"accessKey":"bench","secretKey":"bench-secret"}],' \
      '"actions":["Admin"]},{"name":"anonymous","actions":["Admin"]}]}' >"$server_files/s3.json"
    start_server "$port" "$weed" server "-dir=$server_files" -ip=127.0.0.1 -ip.bind=127.0.0.1 -s3 \
      "-s3.config=$server_files/s3.json" "-s3.port=$port" -s3.port.iceberg=0 -s3.port.lance=0 \
      -master.telemetry=false -master.volumeSizeLimitMB=1024 -volume.max=8 "${arguments[@]}"
  else
    complain "skipped: SeaweedFS, as there is no 'weed'; WEED_SERVER can name it"
  fi
}

# Starts a server with its arguments, and creates a bucket as soon as it answers on the port.
start_server() {
  local port=$1 try
  shift
  "$@" >>"$server_files/log" 2>&1 &
  server_ids+=($!)
  for ((try = 0; try < 300; try++)); do
    if curl --silent --fail --output /dev/null --request PUT "http://127.0.0.1:$port/bench"; then
      addresses+=${addresses:+,}http://127.0.0.1:$port/bench/replicas
      return
    fi
    sleep 0.2
  done
  complain "skipped: '$1' does not answer; see its output:"
  tail "$server_files/log" >&2
}

# Prints a port that no process listens on.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

end_servers() {
  local id
  for id in ${server_ids[@]+"${server_ids[@]}"}; do
    kill -9 "$id" 2>/dev/null || true
    wait "$id" 2>/dev/null || true
  done
  rm -rf "$server_files"
}
