# `make run` serves Meadowlark, `make test` checks and tests it. python3 (3.11 or newer) and make are all they need.

# Of several interpreters one that was built with profile-guided optimization; PYTHON names another one.
python = $(eval python := $(or $(PYTHON),$(shell python3 meadowlark/interpreter.py)))$(python)
VENV := .venv
BIN := $(VENV)/bin
CLIENTS := .venv-clients
DRILLS := .venv-drills
AUDIT := .venv-audit
RELEASE := .venv-release

.PHONY: help run demo sandbox dev shell test check audit docs house pictures bench bench-data drill-cutover release lock
.DEFAULT_GOAL := help

help:
	@echo 'make run    serve on 127.0.0.1:8000; MEADOWLARK_PORT and MEADOWLARK_HOME change where'
	@echo 'make demo   the same with a made-up district, in a home of its own (.demo); STUDENTS=200 TODAY=2027-03-01'
	@echo 'make sandbox NAME=lakeside  a server for a vendor to try, in a home of its own; SHAPE=sis|assessment|warehouse POPULATED=1 EXPIRES=30d'
	@echo 'make dev    serve, and load changed code again'
	@echo 'make shell  Django'"'"'s shell on the database of the home'
	@echo 'make test   lint, types and all tests of the gate; with T or M the tests alone:'
	@echo '  T=tests/web            those of a folder or file'
	@echo '  M=long                 those with a marker, which the gate leaves out (make test-long is the same):'
	@echo '      browser  pages at two widths, with axe-core; needs chromium and chromedriver'
	@echo '      clients  other programs for Ed-Fi APIs; some need npm and Java'
	@echo '      compose  run the Compose file with all profiles; needs root, Docker, Compose and debootstrap'
	@echo '      exchange  servers push and pull: a district, thousands of changes, kills'
	@echo '      hypothesis  tests of properties; EXAMPLES=150'
	@echo '      image  build the image on Debian packages and serve it; needs root, buildah and debootstrap'
	@echo '      long  what takes seconds of a processor each'
	@echo '      modes  every documented way to start, twice, on fresh homes; what is printed is run in a shell'
	@echo '      standards  what depends on the data standard, for every bundled one; an hour'
	@echo '  STANDARD=4.0           serving another data standard'
	@echo '  IN_A_STORE=yes         with all documents in a data store, and none in the admin database'
	@echo '  N=4 ARGS=--exitfirst   the number of processes, and more arguments for pytest'
	@echo 'make check  lint, format and types alone'
	@echo 'make docs   write the pages about settings and commands again'
	@echo 'make house  count what a request calls, and the size of the project; writes meadowlark/docs/design/architecture.md'
	@echo 'make pictures  take the pictures of the documentation again; needs chromium and chromedriver'
	@echo 'make bench  measure requests per second, and the ratios to what PostgreSQL and Django allow'
	@echo 'make bench-NAME  measure batches, data-stores, neighbors, sql-views or validation; BENCH=--help'
	@echo 'make bench-data SIZE=1000000  fill the database of DATABASE_URL, or of the home, with so many documents'
	@echo 'make drill-backup  back up with pgBackRest under load, and restore to a point in time; needs root, pgbackrest, postgresql'
	@echo 'make drill-failover  kill, stop and cut off the leader of a Patroni cluster under load; needs root and etcd; ROUNDS=20'
	@echo 'make drill-cutover  move in from an ODS with the content of make demo; prints the time of each step; STUDENTS=200'
	@echo 'make drill-upgrade  replace servers of 1.0.0 by this version, and back, on one database under load'
	@echo 'make drill-upgrade-locks  which locks migrate takes in a database of 1.0.0 under load; DOCUMENTS=10000000 HOME_OF_DRILL=DIR'
	@echo 'make audit  check every pinned library for known vulnerabilities; needs the network'
	@echo 'make release  write archives of source and image, a list of dependencies and checksums into release/; IMAGE=no'
	@echo 'make lock   write the lock files after a change of one of the requirements.txt'

run: $(VENV)/ready
	@$(BIN)/python -m meadowlark.run

demo: $(VENV)/ready
	@$(BIN)/python -m meadowlark.run --demo $(STUDENTS) $(if $(TODAY),--today $(TODAY))

# A server of its own for a vendor, in a home of its own: make sandbox NAME=lakeside SHAPE=sis POPULATED=1 EXPIRES=30d
SHAPE ?= sis
sandbox: $(VENV)/ready
	@$(BIN)/python -m meadowlark.run --sandbox $(NAME) --shape $(SHAPE) $(if $(POPULATED),--populated) \
		$(if $(EXPIRES),--expires $(EXPIRES))

# PostgreSQL of the home, prepared; Django's server loads changed code again. Its speed says nothing: it is one process.
dev: $(VENV)/ready
	@$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --) sh -c '\
		$(BIN)/python -m meadowlark.prepare && exec $(BIN)/python manage.py runserver $(or $(MEADOWLARK_PORT),8000)'

shell: $(VENV)/ready
	@$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --) $(BIN)/python manage.py shell

# Types are checked at the same time as the tests: one process, which would leave the other processors idle.
test:
	@$(MAKE) --no-print-directory $(if $(T)$(M)$(STANDARD)$(IN_A_STORE),,--jobs=2 check) tests

# pytest-django makes a database for each process in the server it is given; without DATABASE_URL that one is temporary.
# Tests with a marker are heavy, and run one after the other unless N says otherwise.
.PHONY: tests
tests: export TMPDIR = $(shell $(python) tests/support/temporary_folder.py)
tests: N := $(if $(M),0,auto)
tests: $(VENV)/ready-for-tests $(if $(filter clients,$(M)),$(CLIENTS)/ready) $(if $(filter browser,$(M)),$(VENV)/ready-for-browser) \
	$(if $(filter compose,$(M)),$(VENV)/ready-for-compose) $(if $(filter long image,$(M)),$(RELEASE)/ready)
	$(if $(filter clients,$(M)),MEADOWLARK_CLIENTS=$(abspath $(CLIENTS)/bin)) \
		$(if $(STANDARD),MEADOWLARK_DATA_STANDARD=$(STANDARD)) $(if $(EXAMPLES),EXAMPLES=$(EXAMPLES)) \
		$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) \
		$(BIN)/python -m pytest $(if $(M),-m '$(M)') $(if $(IN_A_STORE),-p tests.support.in_a_store) \
		--numprocesses=$(N) --dist=worksteal $(ARGS) $(or $(T),$(if $(IN_A_STORE),$(OF_STORES),$(if $(STANDARD),$(OF_STANDARDS))))

test-%:
	@$(MAKE) --no-print-directory test M=$*

# Folders whose tests pass with every data standard, and with all documents in a data store: code that does not name the
# database of a document fails there, since the admin database has no tables of documents.
OF_STANDARDS := $(addprefix tests/,web/viewsets web/batch descriptors core/documents features/loading/interchange \
	web/metadata core/security/profiles features/validation)
OF_STORES := $(addprefix tests/,web/viewsets web/batch features/changes/change_queries features/changes/history \
	web/relations core/security/profiles core/security/strategies)

# The pages about settings and commands, which are made from the code.
docs: $(VENV)/ready
	@$(BIN)/python -m meadowlark.reference_pages

# The figures of the project, on the page of its architecture.
house: $(VENV)/ready-for-tests
	$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --temporary --) \
		$(BIN)/python -m pytest -q -s --write-house tests/whole/architecture/test_house.py

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
bench-%: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.benchmarks.$(subst -,_,$*) $(BENCH)

SIZE ?= 1000000
bench-data: $(VENV)/ready-for-tests
	@$(if $(DATABASE_URL),,$(BIN)/python -m meadowlark.run.embedded_postgres --) \
		$(BIN)/python -m tests.tools.benchmarks.data --size $(SIZE)

ROUNDS ?= 20
drill-failover: $(VENV)/ready-for-tests $(DRILLS)/ready
	@$(BIN)/python -m tests.tools.drills failover --rounds $(ROUNDS)

DOCUMENTS ?= 1000000
drill-upgrade-locks: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.drills upgrade-locks --documents $(DOCUMENTS) $(if $(HOME_OF_DRILL),--home $(HOME_OF_DRILL))

drill-%: $(VENV)/ready-for-tests
	@$(BIN)/python -m tests.tools.drills $*

# The made-up district is the content of an ODS, which is imported.
drill-cutover: $(VENV)/ready-for-tests
	@$(BIN)/python -m meadowlark.run.embedded_postgres --temporary -- \
		$(BIN)/python -m tests.features.ods_import.district $(if $(STUDENTS),--students $(STUDENTS))

# The locks say everything, so nothing is installed or resolved. Vulnerabilities, libraries that cannot be looked up, which
# pip-audit lists with the reason, and a lock that cannot be audited fail at the end, after all locks.
AUDITED := $(wildcard *.lock requirements/*.lock tests/*.lock tests/tools/clients/*.lock tests/tools/drills/*.lock)
audit: $(AUDIT)/ready
	@failed=; for lock in $(AUDITED); do echo "$$lock:"; \
		found=$$($(AUDIT)/bin/pip-audit --disable-pip --progress-spinner off --require-hashes --requirement "$$lock" 2>&1) || failed="$$failed $$lock"; \
		echo "$$found"; case "$$found" in *"Skip Reason"*) failed="$$failed $$lock";; esac; \
		done; test -z "$$failed" || { echo "Vulnerable, or not audited:$$failed"; exit 1; }

release: $(RELEASE)/ready
	@$(RELEASE)/bin/python -m meadowlark.release release $(if $(filter no,$(IMAGE)),--without-image)

lock: $(VENV)/ready
	$(BIN)/python -m pip install -qq pip-tools==7.6.2
	$(compile) requirements.txt --output-file requirements.lock
	$(compile) requirements/telemetry.txt --constraint requirements.lock --output-file requirements/telemetry.lock
	$(compile) requirements/parquet.txt --constraint requirements.lock --output-file requirements/parquet.lock
	$(compile) requirements/nats.txt --constraint requirements.lock --output-file requirements/nats.lock
	$(compile) requirements/mcp.txt --constraint requirements.lock --output-file requirements/mcp.lock
	$(compile) --allow-unsafe requirements/audit.txt --output-file requirements/audit.lock
	$(compile) --allow-unsafe requirements/release.txt --output-file requirements/release.lock
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

# Only its file of axe-core is used, so nothing that it depends on is needed.
$(VENV)/ready-for-browser: $(VENV)/ready-for-tests
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps axe-playwright-python==0.1.8
	@touch $@

# The types of dashboards, of Grafana 11.6.
$(VENV)/ready-for-compose: $(VENV)/ready-for-tests
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps 'grafana-foundation-sdk==1769699379!11.6.0'
	@touch $@

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

$(RELEASE)/ready: requirements/release.lock
	@$(python) -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/release.lock
	@touch $@

$(AUDIT)/ready: requirements/audit.lock
	@$(python) -m venv --clear $(AUDIT)
	@$(AUDIT)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/audit.lock
	@touch $@
