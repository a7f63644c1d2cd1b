// SPDX-License-Identifier: GPL-2.0
/* Are addresses passed to sockets as a type without a size of its own? */
#include <linux/net.h>

int probe(struct socket *sock, struct sockaddr_unsized *address);
int probe(struct socket *sock, struct sockaddr_unsized *address)
{
	return kernel_bind(sock, address, sizeof(struct sockaddr_storage));
}
