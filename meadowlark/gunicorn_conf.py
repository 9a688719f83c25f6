"""The settings of `meadowlark/serving/gunicorn_conf.py`, for service units that start gunicorn with their former name:
`--config python:meadowlark.gunicorn_conf`."""

from meadowlark.serving.gunicorn_conf import *  # noqa: F403  gunicorn reads all names of the module.
