"""How gunicorn serves: its settings, workers that use Granian's HTTP engine, and Django's handler."""
