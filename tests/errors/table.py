"""The mistakes of newcomers, by theme: what they type, what they read, and what they do then."""

from tests.errors.data import DATA
from tests.errors.loops import LOOPS
from tests.errors.mistake import Mistake
from tests.errors.saving import SAVING
from tests.errors.starting import STARTING
from tests.errors.workers import WORKERS

TABLE: dict[str, list[Mistake]] = {
    "Starting": STARTING,
    "Data": DATA,
    "Custom loops and models": LOOPS,
    "Saving and resuming": SAVING,
    "Workers and commands": WORKERS,
}
MISTAKES = [mistake for mistakes in TABLE.values() for mistake in mistakes]
