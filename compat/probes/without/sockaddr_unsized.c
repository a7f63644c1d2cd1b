// SPDX-License-Identifier: GPL-2.0
#include <linux/net.h>

int probe(struct socket *sock, struct sockaddr *address);
int probe(struct socket *sock, struct sockaddr *address)
{
	return kernel_bind(sock, address, sizeof(struct sockaddr_storage));
}
