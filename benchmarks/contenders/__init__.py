"""The contenders, each the main program of its own process. They share only the workload."""
