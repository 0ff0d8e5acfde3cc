from hypothesis import settings

# The same examples on every machine and in every run.
settings.register_profile(
    "course", derandomize=True, database=None, deadline=None, max_examples=20
)
settings.load_profile("course")
