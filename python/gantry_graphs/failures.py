"""What user code may raise."""

from __future__ import annotations

# Each of these ends the run, or the call, in which user code raises it, and nothing else: `sys.exit()` in a node must not
# end the process, which other runs share, and libraries in Rust raise a BaseException of their own. A generator has to let
# GeneratorExit pass: it is closed with it.
FAILURES = BaseException
