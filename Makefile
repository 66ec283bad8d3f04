# The index of what a person can do here. Each line calls cargo or one script.
PREFIX ?= /usr/local
LIBDIR ?= lib
DESTDIR ?=
export DESTDIR LIBDIR

.PHONY: help demo check test test-long torture test-clients install uninstall deb wheel dist abi-check bench bench-micro curves sizes headers docs lint

help:            ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14
demo:            ## build, compile upstream's uct_hello_world unmodified against it, run it over posix and tcp
	@scripts/demo
check:           ## the inner loop: format, clippy, floors, headers, unit tests, each C test once
	@tests/run --quick
test:            ## install what the tests need, run all tests
	@tests/run
test-long:       ## the same, and the long matrices
	@tests/run --long
torture:         ## everything that must not hang, crash or leak, in full (hours); writes docs/results/RELIABILITY.md
	@tests/torture --full --table
test-clients:    ## MPI, OpenSHMEM and others, every version, transport and number of ranks; writes docs/results/CLIENTS.md
	@tests/clients --long --table
install:         ## install under $(DESTDIR)$(PREFIX)
	@scripts/stage $(PREFIX) release
uninstall:       ## remove what install put there
	@scripts/stage $(PREFIX) --uninstall
deb:             ## build the Debian packages ferrucx and ferrucx-dev in target/deb
	@scripts/deb target/deb release
wheel:           ## build the Python wheel libferrucx for glibc 2.28 and newer in target/wheel
	@scripts/wheel target/wheel
dist:            ## pack the sources, with those of all crates, in target/dist
	@scripts/dist target/dist
abi-check:       ## compare headers and symbols with every upstream release, write abi-check/MATRIX.md
	@python3 abi-check/run.py
bench:           ## side by side with upstream 1.22.0, written to docs/results/PERFORMANCE.md; BENCH="--groups start,mpi --reps 3"
	@python3 benches/side_by_side $(BENCH)
bench-micro:     ## the ring, matching, the request pool and framing by themselves
	@taskset -c 0 cargo bench --bench micro --target-dir $${CARGO_TARGET_DIR:-target}/bench
curves:          ## how the cost of one operation grows with the number of its kind; writes docs/results/PERFORMANCE.md; CURVES="--only timer"
	@python3 benches/curves $(CURVES)
sizes:           ## every size from 1 byte to 4 MiB beside upstream; writes docs/results/PERFORMANCE.md; SIZES="--only 'tcp tag_lat' --reps 5"
	@python3 benches/sizes $(SIZES)
headers:         ## generate include/ from src/
	@FERRUCX_WRITE_HEADERS=1 cargo test -q --test headers include_is_what_the_sources_say
docs:            ## build the reference of the headers in target/docs: HTML and man pages, by doxygen
	@scripts/docs
lint:            ## formatting, clippy, floors, headers up to date
	@scripts/lint
