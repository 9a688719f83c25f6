"""Ed-Fi interchange XML → documents."""
