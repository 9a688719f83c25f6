"""What beginners do wrong, and what the answers teach them."""
