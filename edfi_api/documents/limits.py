"""How much one document may have. Each step of a request works on every value of a body, and on every reference with a
row in the database, so these bounds are what keeps its time and memory in proportion to the largest body that is
accepted: ten megabytes can hold three million empty objects. Real documents stay far below."""

# Members of objects and items of arrays, at any depth.
MOST_VALUES = 100_000
# References to documents and descriptors, with the descriptors in their keys; repeated ones are counted too.
MOST_REFERENCES = 10_000
# A Decimal takes any exponent, and `1e-200000000` written out has 200 MB. Every double fits.
MOST_DIGITS = 100
MOST_DIGITS_OF_AN_EXPONENT = 3
