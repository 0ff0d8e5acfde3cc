from hypothesis import settings

# The same examples on every machine and in every run.
settings.register_profile(
    "course", derandomize=True, database=None, deadline=None, max_examples=20
)
# Others in every run, and many: `make fuzz`.
settings.register_profile(
    "long", database=None, deadline=None, max_examples=2000
)
# What --hypothesis-profile names is loaded after this.
settings.load_profile("course")
