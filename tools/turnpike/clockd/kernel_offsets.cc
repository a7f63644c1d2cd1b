// SPDX-License-Identifier: GPL-2.0
#include "kernel_offsets.h"

#include <libmnl/libmnl.h>

#include "../clock/follower.h"
#include "../onramp_family.h"

namespace turnpike {

KernelOffsets::~KernelOffsets()
{
	while (!told_.empty())
		forget(told_.begin()->first);
}

bool KernelOffsets::call(std::uint8_t command, const OnrampAddress &peer, const Genl::Fill &fill)
{
	try {
		if (!family_)
			family_.reset(new Genl(onramp_family()));
		family_->call(command, [&](nlmsghdr *message) {
			mnl_attr_put(message, ONRAMP_A_CLOCK_PEER, peer.size(), peer.data());
			if (fill)
				fill(message);
		}, nullptr);
		refusal_.clear();
		return true;
	} catch (const Error &error) {
		// the module may be gone, and come again with another number
		refusal_ = error.what();
		family_.reset();
		return false;
	}
}

void KernelOffsets::tell(const OnrampAddress &peer, const PeerOffset &now)
{
	if (now.error_ns > kClockErrorMaxNs) {
		forget(peer);
		return;
	}
	bool taken = call(ONRAMP_CMD_CLOCK_SET, peer, [&](nlmsghdr *message) {
		mnl_attr_put_u64(message, ONRAMP_A_CLOCK_OFFSET, now.offset_ns);
		mnl_attr_put_u32(message, ONRAMP_A_CLOCK_ERROR, now.error_ns);
		mnl_attr_put_u32(message, ONRAMP_A_CLOCK_SECONDS, seconds_);
	});
	if (taken)
		told_[peer] = now;
	else
		told_.erase(peer);
}

void KernelOffsets::follow(const OnrampAddress &peer, const PeerOffset &now)
{
	auto told = told_.find(peer);

	if (told != told_.end() && offset_is_another(now, told->second))
		tell(peer, now);
}

void KernelOffsets::forget(const OnrampAddress &peer)
{
	if (told_.erase(peer))
		call(ONRAMP_CMD_CLOCK_CLEAR, peer, nullptr);
}

}  // namespace turnpike
