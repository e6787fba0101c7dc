"""What user code may raise."""

from __future__ import annotations

import asyncio

# Each of these ends the run, or the call, in which user code raises it, and nothing else: `sys.exit()` in a node must not
# end the process, which other runs share. GeneratorExit is left out: a generator that is closed ends with it.
FAILURES = (Exception, asyncio.CancelledError, SystemExit, KeyboardInterrupt)
