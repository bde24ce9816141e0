#!/bin/sh
# A PostgreSQL for tests: makes a cluster in a directory of its own, serves it on a socket there, and removes everything once the
# process that it is for has ended, however that ended. At SIGUSR1 the server ends as in a crash, and comes back.
# Usage: serve.sh BIN DIRECTORY PID [SETTING...]
set -u
bin=$1 directory=$2 owner=$3
shift 3
cd "$directory" || exit 1
server=
finish() {
  [ -z "$server" ] || kill -QUIT "$server" 2>/dev/null
  wait
  cd / && rm -rf "$directory"
}
trap finish EXIT
trap 'exit 0' TERM INT HUP
"$bin/initdb" -D data -U coffer -A trust --locale=C.UTF-8 --encoding=UTF8 --no-sync >log 2>&1 || { touch failed; sleep 5; exit 1; }
start() {
  "$bin/postgres" -D data -k "$directory" -c listen_addresses= "$@" >>log 2>&1 &
  server=$!
}
again=
trap 'again=1' USR1
start "$@"
while [ -d "/proc/$owner" ]; do
  if [ -n "$again" ]; then
    again=
    kill -QUIT "$server"
    wait "$server"
    start "$@"
  fi
  [ -d "/proc/$server" ] || { touch failed; sleep 5; exit 1; }
  sleep 0.2 &
  wait $!
done
