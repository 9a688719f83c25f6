"""The weekly mail: which causes of refusals and which findings are open, to those who correct them."""
