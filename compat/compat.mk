# SPDX-License-Identifier: GPL-2.0
# Included by every Kbuild file of ours: probes the kernel being built against
# (the first time) and puts the answers and the tree's top in the include path.

compat_here := $(dir $(lastword $(MAKEFILE_LIST)))
ifeq ($(filter clean,$(MAKECMDGOALS)),)
compat_config := $(shell bash $(compat_here)probe $(abspath $(objtree)) $(ARCH))
ifeq ($(compat_config),)
$(error the compile probes failed)
endif
endif

ccflags-y += -I$(compat_here).. -I$(compat_config)

# UBSAN in the test kernel of 6.1 checks only what asks for it.
UBSAN_SANITIZE := y
