"""The only room that imports llama_cpp.

libgomp reads GOMP_SPINCOUNT once, when it is loaded with llama.cpp. By default its threads spin at every barrier, so
that anything else that wants a core makes all of them wait: beside two busy processes a token took 256 ms instead of 37
(1.5B Q4_K_M, 2 cores), with this setting 77, and on a quiet machine no more than before.
"""

import os

os.environ.setdefault("GOMP_SPINCOUNT", "20000")
