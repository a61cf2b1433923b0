"""The library itself, across a daemon's socket: what a command calls is run where the store is open.

`codec` turns values into JSON and back by their type hints. `keeping` and `tending` are the verbs of commands beside
those of `Memory`; `remote` has a class for each that makes the same calls elsewhere, and is thereby the table of what
may be called. `methods` answers them in the daemon, `line` asks them, `finding` tells which daemon has a store open.

Law: whoever calls through the bridge gets the value, or the error, that the library gives. Only the owner may.
"""
