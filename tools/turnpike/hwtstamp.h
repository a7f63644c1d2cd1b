// SPDX-License-Identifier: GPL-2.0
//
// Which packets a NIC stamps for sockets: read and set, as hwstamp_ctl does.
#ifndef TURNPIKE_TOOLS_HWTSTAMP_H
#define TURNPIKE_TOOLS_HWTSTAMP_H

#include <string>

#include <linux/net_tstamp.h>
#include <net/if.h>

#include "netns.h"

namespace turnpike {

enum class Stamps { any, all_received };

// Of one device, whatever it is called meanwhile.
class StampConfig {
public:
	// `netns' may be NULL. Throws Error, as all below.
	StampConfig(const std::string &device, const Netns *netns);

	// What it is called now.
	std::string name() const;

	// The number of the NIC's clock; an Error if it cannot stamp what is wanted.
	int clock(Stamps wanted) const;
	hwtstamp_config get() const;
	void set(hwtstamp_config config) const;

private:
	ifreq request_for(void *data) const;

	std::string device_;	// what it was called
	File socket_;
	int index_;
};

// An Error if somebody has the NIC stamp what he wants stamped.
void check_nobodys(const hwtstamp_config &config, const std::string &device);

bool operator==(const hwtstamp_config &one, const hwtstamp_config &other);

enum class SentFrames { as_they_are, stamped };

// The NIC stamps all received frames, and those that sockets ask for where sent ones are wanted, as long as this lives:
// what was set before is set again, unless somebody else has set something meanwhile.
class AllStamped {
public:
	// As check_nobodys().
	AllStamped(const StampConfig &config, const std::string &device, SentFrames sent = SentFrames::as_they_are);
	~AllStamped();
	AllStamped(const AllStamped &) = delete;
	AllStamped &operator=(const AllStamped &) = delete;

	// An Error when somebody else set something: it is his from now on.
	void check();

private:
	const StampConfig &config_;
	std::string device_;
	hwtstamp_config before_;
	hwtstamp_config ours_;
	bool left_ = false;	// nothing is to be set again
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_HWTSTAMP_H
