"""What a training step needs, from its compiled program: memory, work, and what devices exchange."""

from unisono._src.planning._first_batch import FirstBatch, take_first_batch
from unisono._src.planning._largest_batch import BatchSearch, search_largest_batch
from unisono._src.planning._model_call import bind_model, examine_model
from unisono._src.planning._preserved_state import preserve_state
from unisono._src.planning._step_compiler import StepCompiler, StepMemory, device_memory
