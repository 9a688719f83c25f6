"""Settings for gunicorn's own worker with threads, and its own response, with the numbers of Meadowlark's."""

from gunicorn.http import wsgi
from gunicorn.http.wsgi import Response

from meadowlark.serving.gunicorn_conf import (  # noqa: F401  settings
    control_socket_disable,
    keepalive,
    loglevel,
    on_exit,
    preload_app,
    threads,
    when_ready,
    workers,
)

worker_class = "gthread"
# The module above has put its own in this place.
wsgi.Response = Response
