"""Hypothesis draws the same examples in every run, so that a green build stays green."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "protocol",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("protocol")
