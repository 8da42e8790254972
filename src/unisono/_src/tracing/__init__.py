"""Python functions as compiled programs: gradient tape, functions, control flow."""
