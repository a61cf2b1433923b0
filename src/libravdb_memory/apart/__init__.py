"""An object that lives in a process of its own, and whose methods are called from here.

What computes for long beside a thread that must answer soon takes its interpreter, its locks and its processor. A
process of its own shares none of them: it has no file open, holds no lock of ours, goes behind everybody else, and
leaves a processor to whoever must not wait.

Path: `process` starts it and calls, `serving` is what runs in it, `frames` are the messages between both.

Laws: a call answers what the object answers, or raises what it raises. A process that ends, whatever ended it, is
started again and asked again, and one that is there but does not run is ended first, so methods must not depend on what
was asked before but for speed; where that does not help, the call fails and says so. It ends by itself when nobody has
called for a while, and when the process that started it is gone, however that ended.
"""

from libravdb_memory.apart.process import Apart, Ask, NoProcessError, refuse_unknown_program

__all__ = ["Apart", "Ask", "NoProcessError", "refuse_unknown_program"]
