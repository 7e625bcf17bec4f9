"""The tools that Alicia brings herself."""
