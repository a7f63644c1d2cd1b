// SPDX-License-Identifier: GPL-2.0
//
// What On-Ramp was told of peers' clocks, told again when it is another, and taken back.
#ifndef TURNPIKE_TOOLS_CLOCKD_KERNEL_OFFSETS_H
#define TURNPIKE_TOOLS_CLOCKD_KERNEL_OFFSETS_H

#include <algorithm>
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

// Until it is said again, the error may grow by a quarter of what is told. The kernel knows no drift of more than a
// millisecond a second.
inline PeerOffset offset_to_tell(const PeerOffset &now)
{
	return {now.offset_ns, now.error_ns + (now.error_ns + 2) / 3, std::clamp(now.drift, -1e-3, 1e-3)};
}

// Is it time to say it again, elapsed_ns later? An offset that is off by a quarter of its error is, and one whose error
// has grown by that.
inline bool offset_is_another(const PeerOffset &now, const PeerOffset &told, std::int64_t elapsed_ns)
{
	std::int64_t due_ns = told.offset_ns + std::llround(told.drift * static_cast<double>(elapsed_ns)),
		     moved_ns = now.offset_ns - due_ns;

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

	// Between windows: whose error has grown.
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
	struct Told {
		PeerOffset offset;
		std::int64_t at_ns;		// monotonic_ns()
	};

	std::map<OnrampAddress, Told> told_;
	std::unique_ptr<Genl> family_;		// nothing: to be looked for
	std::string refusal_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_KERNEL_OFFSETS_H
