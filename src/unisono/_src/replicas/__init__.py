"""Which strategy and replica is active, and values that differ between replicas."""
