# Private PostgreSQL and Redis for one run: on free ports, data in the working folder, gone with it.
# Read by ./test; uses its $work and exports the BALCAO_TEST_* addresses.

postgres_process=
redis_process=

# free_port: one that nobody listens on right now, below those that the system hands out by itself.
free_port() {
  local port
  for _ in {1..100}; do
    port=$((RANDOM % 10000 + 20000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%d' "$port"
      return
    fi
  done
  return 1
}

# where_to_work: the folder for databases, profiles of browsers and temporary files. Each test makes and removes hundreds of
# files, which is less work in memory, where that has plenty of room and programs may run: documentation tests are temporary files.
where_to_work() {
  local folder=/dev/shm needed=$((8 * 1024 * 1024)) shared available
  shared=$(df --output=avail "$folder" 2>/dev/null | tail -n 1) || true
  available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null) || true
  if [[ -z ${TMPDIR-} && -w $folder ]] && ((${shared:-0} > needed && ${available:-0} > needed)) && runs_programs "$folder"; then
    printf '%s\n' "$folder"
  else
    printf '%s\n' "${TMPDIR:-/tmp}"
  fi
}

# runs_programs FOLDER: whether a program in it may be run, as not on every file system.
runs_programs() {
  local program status=0
  program=$(mktemp -p "$1") || return 1
  printf '#!/bin/sh\n' >"$program"
  chmod 700 "$program"
  "$program" 2>/dev/null || status=$?
  rm -f "$program"
  return "$status"
}

# Sorted by the rules of Portuguese, not by bytes: what relies on the order of bytes must say so, as on a
# shop's own server. Nothing is synced to disk: a test that pulls the plug pulls ours, not PostgreSQL's.
start_postgres() {
  local programs data=$work/postgres port user=postgres as_user=()
  programs=$(postgres_folder)
  mkdir -p "$data"
  # PostgreSQL refuses to run as root: then it runs as its package's user, or as nobody.
  if ((EUID == 0)); then
    id -u postgres >/dev/null 2>&1 || user=nobody
    as_user=(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups)
    chown "$user" "$data"
  fi
  (cd "$data" && "${as_user[@]}" "$programs/initdb" --pgdata=data --username=postgres --auth=trust --no-sync \
    --encoding=UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=pt-BR) || return 1
  for _ in {1..5}; do
    port=$(free_port)
    (cd "$data" && exec "${as_user[@]}" "$programs/postgres" -D data -h 127.0.0.1 -p "$port" -k "$data" \
      -c max_connections=500 -c shared_buffers=256MB -c fsync=off -c synchronous_commit=off -c full_page_writes=off) \
      >"$logs/postgres-server.log" 2>&1 &
    postgres_process=$!
    if wait_for_server "$postgres_process" "$programs/pg_isready" -q -h 127.0.0.1 -p "$port"; then
      export BALCAO_TEST_POSTGRES_URL=postgres://postgres@127.0.0.1:$port/postgres
      return 0
    fi
  done
  cat "$logs/postgres-server.log"
  return 1
}

start_redis() {
  local server port
  server=$(command -v redis-server || command -v valkey-server)
  mkdir -p "$work/redis"
  for _ in {1..5}; do
    port=$(free_port)
    "$server" --bind 127.0.0.1 --port "$port" --save '' --appendonly no --dir "$work/redis" \
      >"$logs/redis-server.log" 2>&1 &
    redis_process=$!
    if wait_for_server "$redis_process" redis_answers "$port"; then
      export BALCAO_TEST_REDIS_URL=redis://127.0.0.1:$port/
      return 0
    fi
  done
  cat "$logs/redis-server.log"
  return 1
}

redis_answers() {
  local answer
  { exec 3<>"/dev/tcp/127.0.0.1/$1" && printf 'PING\r\n' >&3 && read -r -t 2 answer <&3; } 2>/dev/null || return 1
  exec 3>&-
  [[ $answer == +PONG* ]]
}

# wait_for_server PROCESS QUESTION…: asks until it is answered, the process ends, or some minutes are over.
wait_for_server() {
  local process=$1
  shift
  for _ in {1..3000}; do
    ! "$@" || return 0
    kill -0 "$process" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}

# Each test drops its database, also when it fails; one that is left was never dropped.
nothing_left_behind() {
  local left
  left=$("$(postgres_folder)/psql" -X -A -t "$BALCAO_TEST_POSTGRES_URL" \
    -c "SELECT datname FROM pg_database WHERE datname LIKE 'balcao_test_%'")
  printf 'databases left: %s\n' "${left:-none}"
  [[ -z $left ]]
}

stop_servers() {
  local process
  # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
  for process in $postgres_process $redis_process; do
    kill -INT "$process" 2>/dev/null
    for _ in {1..100}; do
      kill -0 "$process" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$process" 2>/dev/null
  done
}
