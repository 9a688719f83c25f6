"""Limits for one document.

Each step of a request visits every value of the body, and each reference is a row in the database. The limit of the
body's bytes alone does not bound time and memory: ten megabytes can hold three million empty objects. Real documents
stay far below these limits.
"""

# Members of objects and items of arrays, at any depth.
MOST_VALUES = 100_000
# References to documents and descriptors, including descriptors in reference keys; repeated ones are counted too.
MOST_REFERENCES = 10_000
# A Decimal accepts any exponent, and `1e-200000000` without one is 200 MB of text. Every double fits these limits.
MOST_DIGITS = 100
MOST_DIGITS_OF_AN_EXPONENT = 3
