import sys

from unisono_launch._main import main

sys.exit(main())
