#!/bin/sh
# What a container does: bring the database up to date (migrate, load_descriptors, load_school_years), then serve.
set -eu
: "${DATABASE_URL:?DATABASE_URL must be the address of a PostgreSQL server, 15 or newer: postgresql://USER:PASSWORD@HOST/DATABASE}"

python -m meadowlark.prepare
exec python -m gunicorn --config python:meadowlark.gunicorn_conf --bind 0.0.0.0:8000 meadowlark.wsgi:application
