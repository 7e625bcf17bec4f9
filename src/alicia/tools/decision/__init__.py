"""Tools for models that cannot call them by themselves."""
