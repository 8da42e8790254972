"""What a `fit` writes into the folder of its run: `metrics.jsonl` and `run.json`."""

from unisono._src.training.records._description import describe_fit, describe_run
from unisono._src.training.records._recorder import RunRecorder, recording, without_recording
