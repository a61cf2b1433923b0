"""What methods tell, as types that schemas are made from, by subject. Times are in milliseconds.

Law: every answer of a method fits the type that the table names for it, with nothing beside it; tests hold them
together.
"""
