"""How fast are `fit`, `evaluate` and `predict`? Unisono and other libraries run, interleaved, and are compared.

```
run.py                      all cases for the CPU
run.py mlp-1 --rounds 5     one case, shorter
run.py --gpu --path DIR     the cases for the GPU, with this interpreter and the packages unzipped in DIR
run.py --markdown           the tables for the README from the last measurement
```
"""

from __future__ import annotations

import sys

from _command import main
from _fit import FIT
from _inference import INFERENCE

if __name__ == "__main__":
    sys.exit(main(__doc__, FIT, INFERENCE))
