"""Authorization strategies, one module each; `table` lists them."""
