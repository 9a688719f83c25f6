"""A hundred questions in words, with SQL and answers on the demo district, and what measures an assistant by them."""
