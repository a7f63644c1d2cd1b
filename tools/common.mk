# SPDX-License-Identifier: GPL-2.0
# What the Makefiles of all tools share: V=1 shows the commands, and only CI=1 makes errors of
# warnings, since a compiler newer than those that were tried may warn of anything.

# make takes two words for two files: "clean" would delete another directory.
ifneq ($(words $(BUILD)),1)
$(error There is a space in BUILD ($(BUILD)))
endif

Q := $(if $(filter-out 0,$(V)),,@)
strict := $(if $(CI),-Werror)
CFLAGS ?= -O2 -g
# What is made of headers takes half as long to compile like this, and no command of ours is in a hurry.
CXXFLAGS ?= -O1 -g1
c_flags := -std=gnu11 -Wall -Wextra $(strict)
cxx_flags := -std=c++20 -Wall -Wextra $(strict)
