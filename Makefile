# `make run` serves Meadowlark, `make test` checks and tests it. python3 (3.11 or newer) and make are all they need.

# Of several interpreters one that was built with profile-guided optimization; PYTHON names another one.
python = $(eval python := $(or $(PYTHON),$(shell python3 meadowlark/interpreter.py)))$(python)
VENV := .venv
BIN := $(VENV)/bin
CLIENTS := .venv-clients
DRILLS := .venv-drills
AUDIT := .venv-audit

.PHONY: help run demo dev shell test test-alone test-long test-exchange test-api-in-a-store stress-batches test-sql-views test-ods test-browser pictures test-modes test-image test-clients test-profiles test-queries test-refusals test-large-tables test-standards check audit docs house bench bench-data bench-batches bench-data-stores bench-sql-views bench-validation drill-backup drill-failover lock
.DEFAULT_GOAL := help

help:
	@echo 'make run    serve on 127.0.0.1:8000; MEADOWLARK_PORT and MEADOWLARK_HOME change where'
	@echo 'make demo   the same with a made-up district, in a home of its own (.demo); STUDENTS=200 TODAY=2027-03-01'
	@echo 'make dev    serve, and load changed code again'
	@echo 'make shell  Django'"'"'s shell on the database of the home'
	@echo 'make test   lint, types and all tests; TESTS=tests/meadowlark/run runs some of them'
	@echo 'make test-alone  the tests without lint and types'
	@echo 'make test-long  tests that take too long for make test: kills at every step, a logical replica, large requests, benchmarks, many examples'
	@echo 'make test-api-in-a-store  the tests of the API with all documents in a data store, and none in the admin database'
	@echo 'make test-sql-views  test SQL views with more random databases and documents than make test has time for'
	@echo 'make test-exchange  servers push and pull: a district, thousands of changes, kills; SEEDS=2'
	@echo 'make test-ods  random documents and a cutover of the content of make demo, with the time of each step; STUDENTS=200'
	@echo 'make test-modes  every documented way to start, twice, on fresh homes; what is printed is run in a shell'
	@echo 'make test-image  build the image on Debian packages and serve it, read-only; needs root, buildah and debootstrap'
	@echo 'make test-clients  run other programs for Ed-Fi APIs against a server'
	@echo 'make test-profiles  parts of API profiles for every resource of every surface; takes an hour, RULES=1'
	@echo 'make test-queries  queries beyond equality by clients with any rights, against the same in Python; EXAMPLES=2000'
	@echo 'make test-refusals  refusals of every resource of all bundled data standards, and a million of one client'
	@echo 'make test-standards  everything that depends on the data standard, for all bundled ones; an hour'
	@echo 'make test-large-tables  what pages of a million refusals and results read; about two minutes'
	@echo 'make stress-batches  batches and loads at random beside single requests, and beside others, for an hour'
	@echo 'make check  lint, format and types alone'
	@echo 'make docs   write the pages about settings and commands again'
	@echo 'make house  count what a request calls, and the size of the project; writes meadowlark/docs/design/architecture.md'
	@echo 'make test-browser  all kinds of pages in a browser at two widths, with axe-core; needs chromium and chromedriver'
	@echo 'make pictures  take the pictures of the documentation again; needs chromium and chromedriver'
	@echo 'make bench  measure requests per second, and the ratios to what PostgreSQL and Django allow'
	@echo 'make bench-batches  measure batches beside single requests'
	@echo 'make bench-data-stores  measure requests to many data stores, and beside the outage of one'
	@echo 'make bench-sql-views  measure SQL over the views beside the same over plain tables, a million enrollments'
	@echo 'make bench-validation  measure runs of the bundled rules, and requests beside them'
	@echo 'make drill-backup  back up with pgBackRest under load, and restore to a moment; needs root, pgbackrest, postgresql'
	@echo 'make drill-failover  kill, stop and cut off the leader of a Patroni cluster under load; needs root and etcd; ROUNDS=20'
	@echo 'make bench-data SIZE=1000000  fill the database of DATABASE_URL, or of the home, with so many documents'
	@echo 'make audit  check every pinned library for known vulnerabilities; needs the network'
	@echo 'make lock   write the lock files after a change of one of the requirements.txt'

run: $(VENV)/ready
	@$(BIN)/python -m meadowlark.run

demo: $(VENV)/ready
	@$(BIN)/python -m meadowlark.run --demo $(STUDENTS) $(if $(TODAY),--today $(TODAY))

# PostgreSQL of the home, prepared; Django's server loads changed code again. Its speed says nothing: it is one process.
dev: $(VENV)/ready
	@$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --) sh -c '\
		$(BIN)/python -m meadowlark.prepare && exec $(BIN)/python manage.py runserver $(or $(MEADOWLARK_PORT),8000)'

shell: $(VENV)/ready
	@$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --) $(BIN)/python manage.py shell

# Types are checked beside the tests: one process, which would leave the other processors idle.
test:
	@$(MAKE) --no-print-directory --jobs=2 check test-alone

# pytest-django makes a database for each process in the server it is given; without DATABASE_URL that one is temporary.
test-alone: export TMPDIR = $(shell $(python) tests/support/temporary_folder.py)
test-alone: $(VENV)/ready-for-tests
	$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) \
		$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal $(TESTS)

# The admin database has no tables of documents, so code that does not name the database of a document fails.
IN_A_STORE ?= web/viewsets web/batch features/changes/change_queries features/changes/history web/relations core/profiles \
	core/security/strategies
test-api-in-a-store: $(VENV)/ready-for-tests
	$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) \
		$(BIN)/python -m pytest -q -p tests.support.in_a_store --numprocesses=auto --dist=worksteal \
		--ignore=tests/core/profiles/every_resource $(addprefix tests/,$(IN_A_STORE))

# What one run of `make test` has no time for: kills at every step, a logical replica, the largest requests, the programs of
# benchmarks, and others that take ten seconds each. Then the tests of properties, with more examples.
test-long: $(VENV)/ready-for-tests
	$(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- $(BIN)/python -m pytest -q --long -m long
	EXAMPLES=150 $(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m pytest -q --numprocesses=2 --dist=worksteal -m hypothesis

# Servers that push and pull: a whole district, and thousands of changes with kills.
SEEDS ?= 2
test-exchange: $(VENV)/ready-for-tests
	$(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m pytest -q --exchange --exchange-seeds $(SEEDS) tests/features/exchange

# The tests of SQL views with more random databases, and plans of more documents, than `make test` has time for.
test-sql-views: $(VENV)/ready-for-tests
	$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) \
		$(BIN)/python -m pytest --view-seeds 10 --view-documents 200000 tests/features/sql_views

# Random documents, all examples of OpenAPI, and what is too large for `make test`. Then a cutover: a made-up district in an
# ODS is imported, and the time of each step is printed.
test-ods: $(VENV)/ready-for-tests
	EXAMPLES=20 $(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m pytest -q --every-standard --numprocesses=2 --dist=worksteal tests/features/ods_import
	$(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m tests.features.ods_import.district $(if $(STUDENTS),--students $(STUDENTS))

test-modes: $(VENV)/ready-for-tests
	$(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m pytest -q --every-mode --numprocesses=2 --dist=worksteal tests/whole/modes

# Where root, buildah or debootstrap are missing the tests are skipped, and say so.
test-image: $(VENV)/ready-for-tests
	$(BIN)/python -m pytest -q -rs --image tests/tools/image

test-clients: $(VENV)/ready-for-tests $(CLIENTS)/ready
	MEADOWLARK_CLIENTS=$(abspath $(CLIENTS)/bin) $(BIN)/python -m pytest tests/tools/clients

RULES ?= 1
test-profiles: $(VENV)/ready-for-tests
	$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) \
		$(BIN)/python -m pytest --numprocesses=logical --dist=worksteal \
		tests/core/profiles/every_resource --profile-rules=$(RULES)

EXAMPLES ?= 2000
test-queries: $(VENV)/ready-for-tests
	EXAMPLES=$(EXAMPLES) $(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m pytest -q --numprocesses=2 tests/core/queries/test_any_client.py tests/core/queries/test_operators_against_python.py

test-refusals: $(VENV)/ready-for-tests
	for standard in 5.2 6.1 4.0 3.3.1-b; do MEADOWLARK_DATA_STANDARD=$$standard \
		$(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m pytest -q --every-refusal tests/features/refusals/test_every_resource.py tests/features/refusals/test_flood.py || exit 1; done

# Every resource of each standard, then the tests of the API and of loading with each of them served.
SERVED ?= web/viewsets web/batch descriptors core/documents features/loading/interchange web/metadata core/profiles \
	features/validation
test-standards: $(VENV)/ready-for-tests
	$(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- $(BIN)/python -m pytest -q --every-standard \
		--numprocesses=auto --dist=worksteal
	for standard in 3.3.1-b 4.0 6.1; do MEADOWLARK_DATA_STANDARD=$$standard \
		$(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m pytest -q --numprocesses=auto --dist=worksteal $(addprefix tests/,$(SERVED)) \
		|| exit 1; done

test-large-tables: $(VENV)/ready-for-tests
	$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) \
		$(BIN)/python -m pytest -q -s -p no:logging --large-tables tests/tools/large_tables

# Batches and loads at random beside the same single requests, and batches beside others, for longer than the tests do.
stress-batches: $(VENV)/ready-for-tests
	EXAMPLES=2000 $(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m pytest -q --stress-seconds 600 tests/web/batch/test_same_as_singles.py tests/web/batch/test_malformed.py tests/features/loading/bulk/test_same_as_one_after_the_other.py tests/whole/concurrency/test_batches.py

# The pages about settings and commands, which are made from the code.
docs: $(VENV)/ready
	@$(BIN)/python -m meadowlark.reference_pages

# The figures of the project, on the page of its architecture.
house: $(VENV)/ready-for-tests
	$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) \
		$(BIN)/python -m pytest -q -s --write-house tests/whole/architecture/test_house.py

# Only its file of axe-core is used, so nothing that it depends on is needed.
test-browser: $(VENV)/ready-for-tests
	$(BIN)/python -m pip install -q --no-deps axe-playwright-python==0.1.8
	$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) $(BIN)/python -m pytest -q tests/tools/browser

pictures: $(VENV)/ready-for-tests
	$(BIN)/python -m tests.tools.browser.pictures

check: $(VENV)/ready-for-tests
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m mypy

# More arguments: make bench BENCH='--quick --json new.json --baseline old.json'
bench: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.benchmarks $(BENCH)

# More arguments: make bench-sql-views BENCH='--enrollments 100000'
bench-sql-views: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.benchmarks.sql_views $(BENCH)

# More arguments: make bench-validation BENCH='--documents 1000000'
bench-validation: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.benchmarks.validation $(BENCH)

bench-batches: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.benchmarks.batches $(BENCH)

# More arguments: make bench-data-stores BENCH='--registered 1000 --seconds 10'
bench-data-stores: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.benchmarks.data_stores $(BENCH)

SIZE ?= 1000000
bench-data: $(VENV)/ready-for-tests
	@$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --) \
		$(BIN)/python -m tests.tools.benchmarks.data --size $(SIZE)

ROUNDS ?= 20
drill-failover: $(VENV)/ready-for-tests $(DRILLS)/ready
	@$(BIN)/python -m tests.tools.drills failover --rounds $(ROUNDS)

drill-backup: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.drills backup

# The locks say everything, so nothing is installed or resolved. Vulnerabilities, libraries that cannot be looked up, which
# pip-audit lists with the reason, and a lock that cannot be audited fail at the end, after all locks.
AUDITED := $(wildcard *.lock requirements/*.lock tests/*.lock tests/tools/clients/*.lock tests/tools/drills/*.lock)
audit: $(AUDIT)/ready
	@failed=; for lock in $(AUDITED); do echo "$$lock:"; \
		found=$$($(AUDIT)/bin/pip-audit --disable-pip --progress-spinner off --require-hashes --requirement "$$lock" 2>&1) || failed="$$failed $$lock"; \
		echo "$$found"; case "$$found" in *"Skip Reason"*) failed="$$failed $$lock";; esac; \
		done; test -z "$$failed" || { echo "Vulnerable, or not audited:$$failed"; exit 1; }

lock: $(VENV)/ready
	$(BIN)/python -m pip install -qq pip-tools==7.6.2
	$(compile) requirements.txt --output-file requirements.lock
	$(compile) requirements/telemetry.txt --constraint requirements.lock --output-file requirements/telemetry.lock
	$(compile) requirements/parquet.txt --constraint requirements.lock --output-file requirements/parquet.lock
	$(compile) requirements/nats.txt --constraint requirements.lock --output-file requirements/nats.lock
	$(compile) --allow-unsafe requirements/audit.txt --output-file requirements/audit.lock
	$(compile) tests/requirements.txt --constraint requirements.lock --output-file tests/requirements.lock
	$(compile) --allow-unsafe tests/tools/clients/requirements.txt --output-file tests/tools/clients/requirements.lock
	$(compile) tests/tools/drills/requirements.txt --output-file tests/tools/drills/requirements.lock

compile := CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/python -m piptools compile --quiet --no-config --generate-hashes --strip-extras \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links
install := $(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes

# The stamps are copies of the locks that were installed: content decides, not the time of a checkout.
$(shell test -x $(BIN)/python && cmp -s requirements.lock $(VENV)/ready || rm -f $(VENV)/ready)
$(shell cmp -s tests/requirements.lock $(VENV)/ready-for-tests || rm -f $(VENV)/ready-for-tests)
$(shell cmp -s tests/tools/clients/requirements.lock $(CLIENTS)/ready || rm -f $(CLIENTS)/ready)
$(shell cmp -s tests/tools/clients/generators/package-lock.json $(CLIENTS)/package-lock.json || \
	! command -v npm java >/dev/null || rm -f $(CLIENTS)/ready)
$(shell cmp -s tests/tools/drills/requirements.lock $(DRILLS)/ready || rm -f $(DRILLS)/ready)

$(VENV)/ready:
	@$(python) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"Meadowlark needs Python 3.11 or newer; $(python) is " + sys.version.split()[0] + \
		". Name another one: make PYTHON=python3.12 run")'
	@echo "Installing into $(VENV), with $$($(python) meadowlark/interpreter.py --build) ..."
	@$(python) -m venv --clear $(VENV)
	@$(install) -r requirements.lock
	@cp requirements.lock $@

$(VENV)/ready-for-tests: $(VENV)/ready
	@echo 'Installing test tools into $(VENV) ...'
	@$(install) -r tests/requirements.lock
	@cp tests/requirements.lock $@

$(CLIENTS)/ready:
	@echo 'Installing clients into $(CLIENTS) ...'
	@$(python) -m venv --clear $(CLIENTS)
	@$(CLIENTS)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r tests/tools/clients/requirements.lock
	@if command -v npm java >/dev/null; then \
		cp tests/tools/clients/generators/package*.json $(CLIENTS) && \
		npm ci --prefix $(CLIENTS) --ignore-scripts --no-audit --no-fund --loglevel=error; \
		else echo 'Without npm and Java no clients are generated.'; fi
	@cp tests/tools/clients/requirements.lock $@

$(DRILLS)/ready: tests/tools/drills/requirements.lock
	@$(python) -m venv --clear $(DRILLS)
	@$(DRILLS)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r tests/tools/drills/requirements.lock
	@cp tests/tools/drills/requirements.lock $@

$(AUDIT)/ready: requirements/audit.lock
	@$(python) -m venv --clear $(AUDIT)
	@$(AUDIT)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/audit.lock
	@touch $@
