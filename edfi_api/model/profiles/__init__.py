"""API profiles: definitions that narrow what clients see of a resource and what they can write of it.

Text (`xml_files`, `json_files`) → `definition` → checked against the members of the served resources (`rules`) → a
`view` of each part, which needs no look at the definition any more.
"""
