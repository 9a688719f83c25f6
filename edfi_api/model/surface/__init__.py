"""Model → surface: the resources that the API offers, with all facts about them."""
