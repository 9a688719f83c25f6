#!/bin/sh
# What a container does: wait for the database, bring it up to date (see meadowlark/prepare.py), then serve.
# The arguments are gunicorn's; docker/Dockerfile gives it an address.
set -eu
: "${DATABASE_URL:?DATABASE_URL must be the address of a PostgreSQL server, 15 or newer: postgresql://USER:PASSWORD@HOST/DATABASE}"

# The health check of the image sends requests to 127.0.0.1, whatever host name clients use.
export MEADOWLARK_ALLOWED_HOSTS="${MEADOWLARK_ALLOWED_HOSTS:-localhost,[::1]},127.0.0.1"

# In the background, because the shell of a container hears SIGTERM only where it traps it, and only between commands.
python -m meadowlark.prepare --wait "${MEADOWLARK_DATABASE_WAIT:-60}" &
trap 'kill "$!"' TERM INT
wait "$!"
trap - TERM INT

exec python -m gunicorn --config python:meadowlark.serving.gunicorn_conf "$@" meadowlark.wsgi:application
