"""All benchmarks of one GPU, one after the other: small networks, custom loops, large models, start, checkpointing.

```
gpu.py --path DIR                 all of them, with this interpreter and the packages unzipped in DIR
gpu.py loops.py large.py          some of them
gpu.py --rounds 3 --save --check  shorter; save the results, and compare them with those that were saved before
gpu.py --markdown --save          measure nothing; print the saved results
```

The interpreter has CUDA builds of JAX and PyTorch. A benchmark that fails does not stop those after it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

# What is measured on a GPU, and how many rounds of it, of which some take minutes.
BENCHMARKS = {
    "run.py": (["--gpu"], 6),
    "loops.py": (["--gpu"], 9),
    "large.py": ([], 3),
    "start.py": (["resnet50", "gpt2"], 3),
    "saving.py": ([], 2),
}
_TRAIN_THEMSELVES = ("saving.py",)  # without a process for each contender, which would be given --path


def main() -> int:
    """Returns the exit code: 1 if one of the benchmarks did not return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="*", metavar="benchmark", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--rounds", type=int, help="counted rounds; by default between 2 and 9, by benchmark")
    parser.add_argument(
        "--path", type=Path, action="append", default=[], help="a folder that all contenders can import from"
    )
    for option, effect in {
        "--save": "use results/saved/, which is committed, not results/",
        "--check": "exit with 1 if a ratio is worse than saved, or a target is missed that was met",
        "--markdown": "measure nothing; print the stored results",
    }.items():
        parser.add_argument(option, action="store_true", help=effect)
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.benchmarks) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no such benchmark of a GPU: {', '.join(unknown)}. There are {', '.join(BENCHMARKS)}.")
    failed = []
    for script in arguments.benchmarks or BENCHMARKS:
        cases, rounds = BENCHMARKS[script]
        options = [f"--{name}" for name in ("save", "check", "markdown") if getattr(arguments, name)]
        command = [HERE / script, *cases, "--rounds", str(arguments.rounds or rounds), *options]
        variables = dict(os.environ)
        if script in _TRAIN_THEMSELVES:
            folders = [HERE.parent / "src", *(path.resolve() for path in arguments.path)]
            variables |= {"PYTHONPATH": os.pathsep.join(map(str, folders)), "KERAS_BACKEND": "jax"}
        else:
            command += [part for path in arguments.path for part in ("--path", path)]
        print(f"## {script}\n", flush=True)
        if subprocess.run([sys.executable, *command], env=variables, check=False).returncode:
            failed.append(script)
    if failed:
        print(f"Failed, or slower than it should be: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
