"""`unisono doctor`: checks everything that training needs, and says what is wrong and what to type.

It is here and not in `unisono` because it must be able to say that `unisono` cannot be imported. This process imports
neither JAX nor Keras: a second one does (`_probe.py`), which may hang or die.
"""

from unisono_launch.doctor._finding import Finding as Finding
from unisono_launch.doctor._finding import Status as Status
from unisono_launch.doctor._finding import worst as worst
from unisono_launch.doctor._main import main as main
