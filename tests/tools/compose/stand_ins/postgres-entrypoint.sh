#!/bin/bash
# Makes a database from the variables POSTGRES_* and the files of /docker-entrypoint-initdb.d, once; then runs a command.
set -Eeuo pipefail

if [ "$(id -u)" = 0 ]; then
    install --directory --owner postgres --mode 0700 "$PGDATA"
    install --directory --owner postgres --mode 03775 /var/run/postgresql
    exec setpriv --reuid=postgres --regid=postgres --init-groups bash "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    eval 'initdb --username=postgres --pwfile=<(printf "%s\n" "$POSTGRES_PASSWORD") '"${POSTGRES_INITDB_ARGS:-}"
    printf '\nhost all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
    pg_ctl --wait start --options="-c listen_addresses=''"
    psql --username=postgres --dbname=postgres --set=ON_ERROR_STOP=1 --set=db="$POSTGRES_DB" <<< 'CREATE DATABASE :"db";'
    for file in /docker-entrypoint-initdb.d/*; do
        case "$file" in
            *.sh) if [ -x "$file" ]; then "$file"; else . "$file"; fi ;;
            *.sql) psql --username=postgres --dbname="$POSTGRES_DB" --set=ON_ERROR_STOP=1 --no-psqlrc --file="$file" ;;
        esac
    done
    pg_ctl --wait --mode=fast stop
fi
exec "$@"
