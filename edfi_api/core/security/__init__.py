"""Authentication and authorization: clients, tokens, claim sets, authorization strategies."""
