# Recipes for people and for CI alike. All that is needed is Python >= 3.11, git and make.
.POSIX:
.PHONY: help demo fast test check bench figures proof mutants lock clean docs film
PY = . scripts/python.sh && find_environment && $$environment/bin/python
ARGS =

help: ## what can be made
	@grep -hE '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /\1	/' | while IFS='	' read -r t w; do printf '  make %-7s %s\n' "$$t" "$$w"; done

demo: ## a simulated arm clears a table; all of it in ./demo (ARGS="--language zh" for Chinese, ARGS=--fleet for two arms and a carrier)
	@scripts/demo $(ARGS)

fast: ## a chosen set of tests in under a minute, for between edits
	@scripts/bootstrap dev
	@scripts/test --fast $(ARGS)

test: ## all checks, then all tests (PYTHON=python3.13 for another Python: its environment is .venv-3.13)
	@scripts/bootstrap dev
	@scripts/check scripts/test $(ARGS)

check: ## style, types, floors, fresh docs, no foreign names
	@scripts/bootstrap dev
	@scripts/check

docs: ## write the generated pages anew (docs/protocol, docs/schema, docs/command.md)
	@scripts/bootstrap dev
	@$(PY) scripts/docs.py write

bench: ## the figures, printed and in bench/latest.json (ARGS="action idle" for some)
	@scripts/bootstrap dev
	@$(PY) -m bench $(ARGS)

figures: ## the measured rows of the documents, from the last runs of bench and proof
	@scripts/bootstrap dev
	@$(PY) scripts/figures.py write

proof: ## the long tests: kills at every boundary, ten thousand foreign edits, random examples of every property
	@scripts/bootstrap dev
	@$(PY) -m pytest -m proof $(ARGS)
	@$(PY) -m pytest -m "hypothesis and not proof" -n 4 --hypothesis-profile=search $(ARGS) || test $$? = 5

mutants: ## single faults put into the code by rule: do the tests see each? (hours; goes on where it was stopped)
	@scripts/bootstrap dev
	@$(PY) scripts/mutants.py $(ARGS)

film: ## the film at the top of the README: the page, the arm and the files (five minutes, and chromium)
	@scripts/bootstrap dev
	@$(PY) scripts/film_page.py $(ARGS)

lock: ## requirements/*.lock (UPGRADE=1 for the newest versions)
	@scripts/lock

clean: ## remove what was made: .venv, demo, caches
	@scripts/clean
