// SPDX-License-Identifier: GPL-2.0
//
// What On-Ramp was told of peers' clocks, told again when it is another, and taken back.
#ifndef TURNPIKE_TOOLS_CLOCKD_KERNEL_OFFSETS_H
#define TURNPIKE_TOOLS_CLOCKD_KERNEL_OFFSETS_H

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../genl.h"
#include "../onramp.h"
#include "pair_clock.h"

namespace turnpike {

// The kernel takes an offset that stays as it is. What is told of drifting clocks is that of the middle until the next
// time; and until then, or until it is said again, it may be off by what it drifts.
inline PeerOffset offset_to_tell(const PeerOffset &now, std::int64_t next_ns)
{
	double half_ns = static_cast<double>(next_ns) / 2, drifted_ns = std::fabs(now.drift) * half_ns;

	return {now.offset_ns + std::llround(now.drift * half_ns),
		static_cast<std::int64_t>(std::ceil((static_cast<double>(now.error_ns) + drifted_ns) * 4 / 3)),
		now.drift};
}

// Is it time to say it again? An offset that has drifted by a quarter of its error is, and one whose error has grown by
// that.
inline bool offset_is_another(const PeerOffset &now, const PeerOffset &told)
{
	std::int64_t moved_ns = now.offset_ns - told.offset_ns;

	return (moved_ns < 0 ? -moved_ns : moved_ns) > told.error_ns / 4 ||
	       now.error_ns - told.error_ns > told.error_ns / 4;
}

class KernelOffsets {
public:
	// seconds: for which a word counts.
	explicit KernelOffsets(std::uint32_t seconds) : seconds_(seconds) {}

	// Clears what was told.
	~KernelOffsets();
	KernelOffsets(const KernelOffsets &) = delete;
	KernelOffsets &operator=(const KernelOffsets &) = delete;

	// A window is over, and counts on. An error above 1 ms is nothing that On-Ramp takes.
	void tell(const OnrampAddress &peer, const PeerOffset &now);

	// Between windows: where the clocks have drifted.
	void follow(const OnrampAddress &peer, const PeerOffset &now);

	// It is not known any more.
	void forget(const OnrampAddress &peer);

	// What was told counts until its time is over, and is nobody's any more.
	void leave() { told_.clear(); }

	bool told(const OnrampAddress &peer) const { return told_.count(peer); }

	// All that were told.
	std::vector<OnrampAddress> told() const;

	// Hosts that On-Ramp sends to or hears from.
	std::vector<OnrampAddress> peers();

	// Why the kernel takes none; empty: it does.
	const std::string &refusal() const { return refusal_; }

private:
	bool call(std::uint8_t command, const OnrampAddress &peer, const Genl::Fill &fill);
	bool call(std::uint8_t command, const Genl::Fill &fill, const Genl::Reader &read);

	std::uint32_t seconds_;
	std::map<OnrampAddress, PeerOffset> told_;
	std::unique_ptr<Genl> family_;		// nothing: to be looked for
	std::string refusal_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_KERNEL_OFFSETS_H
