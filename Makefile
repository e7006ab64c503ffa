# The few commands a person needs. CMake and Ninja do the work; this file installs what they need, then calls them.
#
#   make demo     from nothing to a factorisation, its simulation and their pictures
#   make check    everything that must hold, under three builds
#   make help     the rest

BUILD  ?= build
PREFIX ?= /usr/local

CONFIGURE = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHEDDLE_DEVELOPER=ON

.PHONY: build configured demo check test bench starpu-tests install uninstall deb clean help
.DEFAULT_GOAL := build

configured:
	@scripts/install-packages.sh build
	@scripts/step.sh "configuring in $(BUILD)" $(CONFIGURE)

build: configured
	@scripts/step.sh "building the library, the heddle command, examples, tests" cmake --build $(BUILD)
	@echo "built: $(BUILD)/heddle (the command), $(BUILD)/libheddle.so"

# Only the command, so that the first look does not wait for tests and examples.
demo: configured
	@scripts/step.sh "building the heddle command" cmake --build $(BUILD) --target heddle
	@scripts/demo.sh $(BUILD)

check:
	@scripts/install-packages.sh check
	@python3 scripts/check.py --build $(BUILD)

test: build
	@ctest --test-dir $(BUILD) -L quick --output-on-failure -j "$$(nproc)"

bench:
	@scripts/install-packages.sh bench
	@$(MAKE) --no-print-directory build
	@python3 bench/run.py

# StarPU's own test programs, from Debian's source package, against our <starpu.h>. Not a part of `make check`.
starpu-tests: configured
	@scripts/step.sh "building libheddle-starpu" cmake --build $(BUILD) --target libheddle-starpu.so
	@python3 starpu/conformance.py --build $(BUILD)

# A release build of its own, so that what is installed knows nothing of this source tree.
install:
	@scripts/install-packages.sh build
	@scripts/step.sh "configuring in $(BUILD)/install for $(PREFIX)" cmake -S . -B $(BUILD)/install -G Ninja \
		-DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$(abspath $(PREFIX))"
	@scripts/step.sh "building" cmake --build $(BUILD)/install
	@scripts/step.sh "installing in $(PREFIX)" cmake --install $(BUILD)/install

# What the last `make install` with this BUILD has installed.
uninstall:
	@cmake -DMANIFEST="$(abspath $(BUILD))/install/install_manifest.txt" -P cmake/Uninstall.cmake

# Debian packages of the same, for /usr.
deb:
	@scripts/install-packages.sh deb
	@scripts/step.sh "configuring in $(BUILD)/deb" cmake -S . -B $(BUILD)/deb -G Ninja \
		-DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr
	@scripts/step.sh "building" cmake --build $(BUILD)/deb
	@scripts/step.sh "packaging" sh -c 'cd $(BUILD)/deb && cpack -G DEB'
	@ls $(BUILD)/deb/*.deb

clean:
	rm -rf $(BUILD) demo

help:
	@echo "make build                  install missing Debian packages, configure, build everything in $(BUILD)/"
	@echo "make demo                   build the command; factorise here, simulate elsewhere, draw both in demo/"
	@echo "make check                  all tests; then the quick ones under ASan+UBSan and TSan; fuzzing (< 20 min)"
	@echo "make test                   build, then only the quick tests"
	@echo "make bench                  build, install the peers, measure: rows go to bench.csv"
	@echo "make starpu-tests           get StarPU's own test programs, and run them with Heddle's <starpu.h>"
	@echo "make install [PREFIX=dir]   install library, headers, command, platforms (in /usr/local; DESTDIR works)"
	@echo "make uninstall              remove what make install has installed last (DESTDIR works)"
	@echo "make deb                    Debian packages of what make install installs, in $(BUILD)/deb"
	@echo "make clean                  delete what was built"
