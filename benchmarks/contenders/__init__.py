"""The programs that compete, each the main program of a process of its own. They share nothing but the workload."""
