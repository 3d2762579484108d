"""python -m tools.drawn_facts: what certificates state about drawn tables, against programs of other makers.

Tables of 2 to 60,000 rows: classes apart or not, one flipped label, duplicates, contradictions, a bias needed or not,
99:1, more columns than rows (`tools.drawn_tables`). Each is read, prepared and looked at, without training, and every
field of the JSON is compared with plain NumPy, a linear program and a support-vector machine (`tools.known_facts`). Of
--whole tables whole certificates are made, with theorems and networks. Table number n is the same each time.
"""


