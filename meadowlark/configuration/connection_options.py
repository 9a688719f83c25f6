"""Options of libpq with which connections to PostgreSQL are opened."""

PRIMARY = {
    "connect_timeout": 5,
    "application_name": "meadowlark",
    # Detects an unreachable database host within about 20 seconds, instead of TCP's quarter of an hour.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 20_000,
}
# An unreachable replica must not delay requests, which the primary can answer.
REPLICA = {"application_name": "meadowlark", "connect_timeout": 2, "tcp_user_timeout": 5000}
