"""`python -m unisono` is the command `unisono`.

Python has imported JAX and Keras by now, which the launcher of `unisono run` must not hold. So another program takes
the place of this one.
"""

import os
import sys

os.execv(sys.executable, [sys.executable, "-m", "unisono_launch", *sys.argv[1:]])
