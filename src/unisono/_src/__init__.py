"""The implementation. Not public: what users may import is in the packages beside this one."""
