from hypothesis import Phase, settings

# The same examples on every machine and in every run.
settings.register_profile(
    "course", derandomize=True, database=None, deadline=None, max_examples=20
)
# Others in every run, and many: `make fuzz`.
settings.register_profile(
    "long", database=None, deadline=None, max_examples=2000
)
# Where it matters only whether a test fails, not how simply: `make mutants`.
settings.register_profile(
    "mutants",
    settings.get_profile("course"),
    phases=[Phase.explicit, Phase.generate],
)
# What --hypothesis-profile names is loaded after this.
settings.load_profile("course")
