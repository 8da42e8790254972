"""Unisono on Ray Train, with the extra `unisono[ray]`. `unisono run --on ray` does the same for a script.

```python
import ray.train
import unisono.ray

trainer = unisono.ray.Trainer(train_loop, scaling_config=ray.train.ScalingConfig(num_workers=2, use_gpu=True))
trainer.fit()
```
"""

from unisono_launch.engines.ray import require_ray as _require_ray

_require_ray()  # before Ray is imported: its absence is explained

from unisono._src.ray import ReportCallback, Trainer  # noqa: E402

__all__ = ["ReportCallback", "Trainer"]
