// SPDX-License-Identifier: GPL-2.0
#include "kernel_offsets.h"

#include <cstring>

#include <libmnl/libmnl.h>

#include "../clock/follower.h"
#include "../monotonic.h"
#include "../onramp_family.h"

namespace turnpike {

KernelOffsets::~KernelOffsets()
{
	while (!told_.empty())
		forget(told_.begin()->first);
}

bool KernelOffsets::call(std::uint8_t command, const Genl::Fill &fill, const Genl::Reader &read)
{
	try {
		if (!family_)
			family_.reset(new Genl(onramp_family()));
		family_->call(command, fill, read, read != nullptr);
		refusal_.clear();
		return true;
	} catch (const Error &error) {
		// the module may be gone, and come again with another number
		refusal_ = error.what();
		family_.reset();
		return false;
	}
}

bool KernelOffsets::call(std::uint8_t command, const OnrampAddress &peer, const Genl::Fill &fill)
{
	return call(command, [&](nlmsghdr *message) {
		mnl_attr_put(message, ONRAMP_A_CLOCK_PEER, peer.size(), peer.data());
		if (fill)
			fill(message);
	}, nullptr);
}

void KernelOffsets::tell(const OnrampAddress &peer, const PeerOffset &now)
{
	if (now.error_ns > kClockErrorMaxNs) {
		forget(peer);
		return;
	}
	bool taken = call(ONRAMP_CMD_CLOCK_SET, peer, [&](nlmsghdr *message) {
		mnl_attr_put_u64(message, ONRAMP_A_CLOCK_OFFSET, now.offset_ns);
		mnl_attr_put_u32(message, ONRAMP_A_CLOCK_DRIFT,
				 static_cast<std::uint32_t>(std::lround(now.drift * 1e12)));
		mnl_attr_put_u32(message, ONRAMP_A_CLOCK_ERROR, now.error_ns);
		mnl_attr_put_u32(message, ONRAMP_A_CLOCK_SECONDS, seconds_);
	});
	if (taken)
		told_[peer] = {now, monotonic_ns()};
	else
		told_.erase(peer);
}

void KernelOffsets::follow(const OnrampAddress &peer, const PeerOffset &now)
{
	auto told = told_.find(peer);

	if (told != told_.end() &&
	    offset_is_another(now, told->second.offset, monotonic_ns() - told->second.at_ns))
		tell(peer, now);
}

void KernelOffsets::forget(const OnrampAddress &peer)
{
	if (told_.erase(peer))
		call(ONRAMP_CMD_CLOCK_CLEAR, peer, nullptr);
}

std::vector<OnrampAddress> KernelOffsets::told() const
{
	std::vector<OnrampAddress> peers;

	for (const auto &[peer, told] : told_)
		peers.push_back(peer);
	return peers;
}

std::vector<OnrampAddress> KernelOffsets::peers()
{
	std::vector<OnrampAddress> peers;

	call(ONRAMP_CMD_PEERS, nullptr, [&peers](const Attributes &a) {
		if (!a.count(ONRAMP_A_PEER))
			return;
		Attributes nest = parse_nest(a.at(ONRAMP_A_PEER));
		OnrampAddress peer;
		std::memcpy(peer.data(), attribute_bytes(nest.at(ONRAMP_PEER_REMOTE), peer.size()), peer.size());
		peers.push_back(peer);
	});
	return peers;
}

}  // namespace turnpike
