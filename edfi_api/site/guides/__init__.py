"""The guides: the pages of meadowlark/docs/ for browsers."""
