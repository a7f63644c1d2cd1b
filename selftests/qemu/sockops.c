// SPDX-License-Identifier: GPL-2.0
/*
 * sockops CGROUP: a BPF program there that says of each connection that it writes options into
 * its packets, and writes none.  Four instructions are no reason for a compiler: they are loaded by
 * bpf(2).  The cgroup keeps the program.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(void)
{
	static const struct bpf_insn program[] = {
		/* r1 is the connection */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2,
		  .imm = BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_sock_ops_cb_flags_set },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCK_OPS;
	attr.expected_attach_type = BPF_CGROUP_SOCK_OPS;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uintptr_t)"GPL";
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		err(1, "the program is not loaded");
	return fd;
}

int main(int argc, char **argv)
{
	union bpf_attr attr;

	if (argc != 2)
		errx(2, "usage: sockops CGROUP");
	memset(&attr, 0, sizeof(attr));
	attr.target_fd = open(argv[1], O_RDONLY | O_DIRECTORY);
	if ((int)attr.target_fd < 0)
		err(1, "%s", argv[1]);
	attr.attach_bpf_fd = load();
	attr.attach_type = BPF_CGROUP_SOCK_OPS;
	if (bpf(BPF_PROG_ATTACH, &attr))
		err(1, "the program is not attached to %s", argv[1]);
	return 0;
}
