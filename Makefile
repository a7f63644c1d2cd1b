# SPDX-License-Identifier: GPL-2.0
# Turnpike's front door; `make help` says what there is.  Kernel objects are
# listed in Kbuild, this file only calls the kernel's build system with it.

# Of what is built, with the commit; asked once, when needed.
VERSION = $(eval VERSION := $$(shell packaging/version))$(VERSION)
BUILD := $(CURDIR)/build
KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
DESTDIR ?=
# What `make demo` runs on: the main one of the series that are tested.
KERNEL ?= $(shell awk '$$2 == "main" { print $$1 }' selftests/kernel/series)
MAKEFLAGS += --no-print-directory
# V=1 shows every command.
Q := $(if $(filter-out 0,$(V)),,@)

# Neither make nor the kernel's build system can name a file in there.
ifneq ($(words $(CURDIR)),1)
$(error There is a space in the path of this tree ($(CURDIR)): nothing can be built in there)
endif

# The release that modules built there say they are for.
release := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
# A UML tree says so itself; for others the machine's own architecture is right.
karch := $(shell grep -qs '^CONFIG_UML=y' $(KDIR)/.config && echo um)

# A kernel that clang built wants its modules from clang.
ifneq ($(shell grep -qs '^CONFIG_CC_IS_CLANG=y' '$(KDIR)/include/config/auto.conf' && echo clang),)
export LLVM ?= 1
endif

# Kernels that share a release (plain and debug test kernels do) get a directory each.
MODULES_OUT ?= build/modules/$(release)-$(shell readlink -f $(KDIR) | sha256sum | cut -c1-8)
ifneq ($(words $(MODULES_OUT)),1)
$(error There is a space in MODULES_OUT ($(MODULES_OUT)))
endif
modules_out := $(abspath $(MODULES_OUT))

# CI=1 turns every complaint of the compiler and of sparse into an error; for checks,
# OPTIONS_HEADER= names one that takes options from the kernel that modules are built for,
# and SPARSE=0 leaves out sparse, which says the same for one kernel as for another.
ifneq ($(CI),)
strict := W=1 KCFLAGS='-Werror $(OPTIONS_HEADER:%=-include %)'
ifneq ($(SPARSE),0)
strict += C=1 CF='-Wsparse-error -D__CHECK_ENDIAN__'
endif
endif

# Recipes call it with a +: make does not see that it is a make, and would keep its -j to itself.
kbuild = $(MAKE) $(if $(Q),-s) -C $(KDIR) $(if $(karch),ARCH=$(karch)) $(strict)
# compat/generated is not one: compat/probe may be at work there, for another make.
sources := Kbuild $(filter-out compat/generated,$(wildcard compat/*)) include tcp_timely sch_onramp tlt drivers/nicstamp
tools := $(patsubst tools/%/Makefile,%,$(wildcard tools/*/Makefile))

# What `make install' installs.
.PHONY: all
all: modules turnpike tc-plugin

.PHONY: help
help:
	@echo 'Turnpike $(VERSION)'
	@echo
	@echo '  make modules     kernel modules for the running kernel, or for KDIR=<kernel build tree>'
	@echo '  make drivers     a NIC driver patched for nicstamp: DRIVER=igb KSRC=<kernel source tree> KDIR='
	@echo '  make tools       the turnpike command and the load generator, in build/'
	@echo '  make check       style checks and unit tests; no root, minutes'
	@echo '  make test        everything: check, module tests in UML and debug kernels of all series,'
	@echo '                   short scenarios, stock kernels in QEMU, a bare Debian (TIERS="..." picks some)'
	@echo '  make drivers-check  every patched NIC driver for the stock kernels, two on emulated NICs (an hour)'
	@echo '  make demo        the TIMELY incast of SIGCOMM 2015 in the virtual rack: table and plots'
	@echo '  make reproduce   every scenario in the tree with all its seeds (hours), and all other tests in full'
	@echo '                   (FIG="timely-18": one figure of a paper; FIG="*" FIGURES="--quick"; index in build/reproduce)'
	@echo '  make fuzz        random inputs for all that reads what others wrote (FUZZ="--runs N")'
	@echo '  make battery     a table of what Linux and Turnpike do on all kinds of networks (BATTERY="--row long")'
	@echo '  make mutants     lines changed one by one: some test must go red (MUTANTS="--match tlt")'
	@echo '  make ablation    what each mechanism of On-Ramp is worth, as a table (ABLATION="--match drain")'
	@echo '  make install     modules, tools, man pages and examples (DESTDIR=, PREFIX=$(PREFIX), KDIR=)'
	@echo '  make uninstall   take away what install put there'
	@echo '  make dkms        hand the modules to dkms, to be rebuilt with every new kernel'
	@echo '  make dkms-remove take them away from it'
	@echo '  make deb         Debian packages, in build/deb'
	@echo '  make release     a tarball of the tree, in build/release'
	@echo '  make deps-build  install the Debian packages that make modules and make tools need'
	@echo '  make deps        install those of the tests as well (demo, check and test do so by themselves)'
	@echo '  make clean       delete build/ and the results of compile probes'
	@echo
	@echo '  V=1              show every command'
	@echo '  CI=1             warnings of compiler and sparse are errors'
	@echo '  TURNPIKE_CACHE=  where test kernels are kept (~/.cache/turnpike)'

# -- packages of the distribution ----------------------------------------------

# Some goals install what they need, by the classes of selftests/packages.txt, before
# anything is built; others never do.
packages_deps-build := build
packages_demo := build kernel demo
packages_check := build demo check
packages_test := build kernel demo check test qemu bare
packages_fuzz := build demo fuzz
packages_mutants := build kernel demo check test
packages_ablation := build kernel demo
packages_battery := build kernel demo
# Without strip, two goals that need none are a space, which is true.
wanted_packages := $(strip $(foreach goal,$(MAKECMDGOALS),$(packages_$(goal))))
all_packages := $(filter deps reproduce drivers-check,$(MAKECMDGOALS))

.PHONY: packages deps deps-build
packages:
	@$(if $(wanted_packages)$(all_packages),selftests/lib/install-packages $(if $(all_packages),,$(wanted_packages)))
deps deps-build: packages

# -- kernel modules -----------------------------------------------------------

.PHONY: kernel-headers
kernel-headers: packages
	@if [ ! -e "$(KDIR)/Makefile" ] || [ -z "$(release)" ]; then \
		echo 'No kernel headers in $(KDIR).' >&2; \
		echo "Install them with:  apt-get install linux-headers-$$(uname -r)" >&2; \
		echo 'or name another kernel build tree with KDIR=' >&2; \
		exit 1; \
	fi

# Objects of different kernels must not meet: each kernel gets a tree of links to
# the sources and is built in there. A module whose Kbuild is gone goes, too: it may be
# built elsewhere now.
.PHONY: link-sources
link-sources: kernel-headers
	@mkdir -p $(modules_out)
	@for s in $(wildcard $(sources) $(extra_sources)); do \
		mkdir -p $(modules_out)/$$(dirname $$s) && \
		cp -rsfT $(CURDIR)/$$s $(modules_out)/$$s || exit 1; \
	done
	@find $(modules_out) -xtype l -name Kbuild -execdir sh -c 'rm -f -- *.ko' \;
	@find $(modules_out) -xtype l -delete
	@[ "$$(cat $(modules_out)/VERSION 2>/dev/null)" = '$(VERSION)' ] || { \
		rm -f $(modules_out)/VERSION && echo '$(VERSION)' > $(modules_out)/VERSION; }

.PHONY: modules
modules: link-sources
	@echo 'Building modules for $(release)'
	@+$(kbuild) M=$(modules_out) modules
	@echo 'Modules for $(release) are in $(modules_out)'

# For scripts, the last line says where the driver is.
.PHONY: drivers
drivers: modules
	@CI=$(CI) drivers/build '$(DRIVER)' '$(KSRC)' '$(KDIR)' $(abspath build/drivers/$(release)) \
		$(modules_out)/Module.symvers

.PHONY: drivers-check
drivers-check: packages
	@selftests/run-tests drivers

.PHONY: test-modules
test-modules: extra_sources = selftests/Kbuild selftests/vrack selftests/cc selftests/tlt/foreign
test-modules: modules
	@+$(kbuild) M=$(modules_out)/selftests \
		KBUILD_EXTRA_SYMBOLS=$(modules_out)/Module.symvers modules

# For scripts, several of which may ask at once: build the modules for KDIR, with
# or without those of the tests, and print where they are as the last line.
.PHONY: print-modules uml-modules
print-modules: script_goal = modules
uml-modules: script_goal = test-modules
print-modules uml-modules: kernel-headers
	@mkdir -p $(dir $(modules_out))
	@flock $(modules_out).lock $(MAKE) $(script_goal) KDIR=$(KDIR) CI=$(CI) SPARSE=$(SPARSE) >&2
	@echo $(modules_out)

# -- tools --------------------------------------------------------------------

.PHONY: tools $(tools)
tools: $(tools)
$(tools): announce-tools
	@$(MAKE) $(if $(Q),-s) -C tools/$@ BUILD=$(BUILD) VERSION=$(VERSION)

.PHONY: announce-tools
announce-tools: packages
announce-tools: wanted = $(filter $(tools),$(MAKECMDGOALS))
announce-tools:
	@mkdir -p $(BUILD)
	@MAKE='$(MAKE)' CC='$(CC)' CXX='$(CXX)' tools/announce $(BUILD) $(VERSION) $(or $(wanted),$(tools))

# -- tests --------------------------------------------------------------------

# Tests of a tool are built by the tool's Makefile (they need its objects); tests of
# the headers that modules and tools share are programs of one file.
tool_tests := $(foreach t,$(tools),$(if $(wildcard selftests/unit/$(t)_*_test.cc),$(t)))
header_tests := $(filter-out $(foreach t,$(tool_tests),build/unit/$(t)_%), \
	$(patsubst selftests/unit/%.cc,build/unit/%,$(wildcard selftests/unit/*_test.cc)))
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all

.PHONY: list-unit-tests
list-unit-tests:
	@printf '%s\n' $(header_tests) $(patsubst %,build/%_test,$(tool_tests))

.PHONY: unit-tests
unit-tests: $(header_tests)
	@for t in $(tool_tests); do \
		$(MAKE) $(if $(Q),-s) -C tools/$$t BUILD=$(BUILD) $(BUILD)/$${t}_test || exit 1; \
	done

build/unit/%: selftests/unit/%.cc $(wildcard tcp_timely/*.h selftests/cc/*.h selftests/vrack/*.h sch_onramp/*.h sch_onramp/*/*.h tlt/*.h drivers/nicstamp/*.h include/*.h include/uapi/*.h selftests/unit/*.h)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 -g1 -Wall -Wextra $(if $(CI),-Werror) $(sanitize) -I$(CURDIR) -o $@ $< \
		$(filter %.o,$^) -lgtest_main -lgtest -lpthread

# What the kernel runs is C, and C++ promotes otherwise.
build/unit/timely_c_test: build/unit/timely_c_engine.o
build/unit/timely_c_engine.o: selftests/unit/timely_c_engine.c $(wildcard tcp_timely/*.h include/*.h selftests/unit/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -g1 -Wall -Wextra $(if $(CI),-Werror) $(sanitize) -I$(CURDIR) -c -o $@ $<

.PHONY: check
check: tools
	@selftests/run-tests check unit

.PHONY: test
test: packages
	@selftests/run-tests $(TIERS)

# DEMO= has further arguments of the scenario runner, such as "--variant timely --seeds 1".
.PHONY: demo
demo: tools
	@selftests/vrack/run selftests/scenarios/timely-table1.yaml --demo --kernel $(KERNEL) \
		--out $(BUILD)/demo $(DEMO)

# FUZZ= has options of selftests/fuzz/run, such as "--runs 10000000 orack".
.PHONY: fuzz
fuzz: packages
	@selftests/fuzz/run $(FUZZ)

# MUTANTS= has options of selftests/mutants/run.
.PHONY: mutants
mutants: packages
	@selftests/mutants/run $(MUTANTS)

# ABLATION= has options of selftests/ablation/run.
.PHONY: ablation
ablation: packages
	@selftests/ablation/run $(ABLATION)

# BATTERY= has options of selftests/battery.
.PHONY: battery
battery: packages
	@selftests/battery $(BATTERY)

.PHONY: reproduce
reproduce: packages $(if $(FIG),tools)
ifeq ($(FIG),)
	@selftests/run-tests reproduce; status=$$?; selftests/figures --index; exit $$status
else
	@selftests/figures $(FIGURES) $(FIG:%='%')
endif

# -- installation -------------------------------------------------------------

# What the distribution's tc loads, and where it looks for that; tc does without.
.PHONY: tc-plugin
tc-plugin:
	@$(MAKE) tc || echo "The plugin of tc cannot be built: tc will not know 'onramp'." >&2

multiarch = $(shell $(CC) -print-multiarch 2>/dev/null)
tc_lib ?= $(if $(multiarch),/usr/lib/$(multiarch),$(firstword $(wildcard /usr/lib64) /usr/lib))/tc

# Without the key there is no point in trying to sign.
unsigned := $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)

# After "sudo make install" all in build/ is still the user's, not root's.
owner := $(shell stat -c %u .)
ifeq ($(shell id -u)/$(filter-out 0,$(owner)),0/$(owner))
as_owner := setpriv --reuid=$(owner) --regid=$(shell stat -c %g .) --clear-groups \
	env HOME='$(shell getent passwd $(owner) | cut -d: -f6)'
endif

# Paths go to the script by the environment: they may have spaces in them.
install install-tools uninstall dkms-source: export DESTDIR := $(value DESTDIR)
install install-tools uninstall: export PREFIX := $(value PREFIX)
STRIP ?= strip

.PHONY: install
install: kernel-headers
	@packaging/install check '$(KDIR)'
	@$(as_owner) $(MAKE) all
	@stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && \
		$(kbuild) M=$(modules_out) INSTALL_MOD_PATH="$$stage" INSTALL_MOD_DIR=updates/turnpike \
			INSTALL_MOD_STRIP=1 DEPMOD=true $(unsigned) modules_install && \
		packaging/install modules $(release) "$$stage"
	@STRIP=$(STRIP) packaging/install tools $(BUILD) $(tc_lib)

# All but modules, for packages.
.PHONY: install-tools
install-tools:
	@STRIP=$(STRIP) packaging/install tools $(BUILD) $(tc_lib)

.PHONY: uninstall
uninstall:
	@packaging/install uninstall

.PHONY: dkms-source dkms dkms-remove
dkms-source:
	@packaging/dkms source
dkms:
	@packaging/dkms install
dkms-remove:
	@packaging/dkms remove

.PHONY: deb release
deb:
	@packaging/deb
release:
	@packaging/release

.PHONY: clean
clean:
	rm -rf build compat/generated
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
