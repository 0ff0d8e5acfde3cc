# Every command sets up .venv first; only the first time needs the network.
# Another Python: make run PYTHON=python3.12

PYTHON = python3
IN_VENV = .venv/bin/python
PIP_AUDIT = 2.10.1
CHECK_PYTHON = $(PYTHON) -c "import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else 'Python %d.%d does not fit: Python 3.11, 3.12 or 3.13 is needed. Name one: make run PYTHON=python3.11' % v)"

.PHONY: help run site test lab notebooks mutants matrix repeat kills fuzz audit

help:
	@echo "make run        execute all lessons, and make the web edition of them"
	@echo "make site       make the web edition, site/, of the lessons as they are"
	@echo "make test       check that everything still comes out the same"
	@echo "make lab        read and play in JupyterLab, on a copy of your own"
	@echo "make notebooks  rebuild the committed notebooks (for maintainers)"
	@echo "make mutants    damage the code, a small change at a time: who notices?"
	@echo "make matrix     do other machines, locales and folders print the same?"
	@echo "make repeat     is the check of notebooks green twenty times in a row?"
	@echo "make kills      kill trainings 50 times; is anything lost?"
	@echo "make fuzz       2,000 bad inputs of each kind: is each refused in words?"
	@echo "make audit      are there known holes in what requirements.txt names?"

run: .venv/requirements.txt
	@$(IN_VENV) -m tutorial run

site: .venv/requirements.txt
	@$(IN_VENV) -m tutorial site

test: .venv/requirements.txt
	@$(IN_VENV) -m pytest

lab: .venv/requirements.txt
	@$(IN_VENV) -m tutorial lab

notebooks: .venv/requirements.txt
	@$(IN_VENV) -m tutorial notebooks

# Some steps only: make mutants STEPS="3 7"
mutants: .venv/requirements.txt
	@$(IN_VENV) -m tests.mutants $(STEPS)

# Some rows only: make matrix ROWS="euc-kr read-only"
matrix: .venv/requirements.txt
	@$(IN_VENV) -m tests.matrix $(ROWS)

repeat: .venv/requirements.txt
	@$(IN_VENV) -m tests.repeat

kills: .venv/requirements.txt
	@$(IN_VENV) -m tests.kills

fuzz: .venv/requirements.txt
	@$(IN_VENV) -m pytest tests/test_bad_input.py --hypothesis-profile=long --hypothesis-show-statistics

# What audits is no part of what is audited, so it has an environment of its
# own.  It asks an advisory service on the network, which knows no "+cpu".
audit: .venv/requirements.txt build/audit/pip-audit-$(PIP_AUDIT)
	@$(IN_VENV) -m pip freeze | sed 's/+cpu$$//' > build/audit/installed.txt
	@build/audit/bin/pip-audit --strict --no-deps --disable-pip --requirement build/audit/installed.txt

build/audit/pip-audit-$(PIP_AUDIT):
	@$(CHECK_PYTHON)
	@$(PYTHON) -m venv --clear build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==$(PIP_AUDIT)
	@touch $@

# The copy inside .venv says which requirements are installed there.  Without
# a Python that runs, or with another copy, .venv is set up again.
ifneq ($(shell $(IN_VENV) -c "" 2>&1; cmp requirements.txt .venv/requirements.txt 2>&1),)
.PHONY: .venv/requirements.txt
endif

.venv/requirements.txt: requirements.txt
	@$(IN_VENV) -c "" 2>/dev/null || { $(CHECK_PYTHON) && $(PYTHON) -m venv --clear .venv; }
	@echo "Installing requirements.txt into .venv (the first time takes some minutes) ..."
	@$(IN_VENV) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@cp requirements.txt .venv/requirements.txt
