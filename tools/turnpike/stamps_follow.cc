// SPDX-License-Identifier: GPL-2.0
#include "stamps_follow.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <iostream>
#include <memory>

#include <libmnl/libmnl.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "hwtstamp.h"
#include "include/uapi/turnpike.h"
#include "netns.h"
#include "phc.h"

namespace turnpike {
namespace {

// As often as nicstamp reads the clocks of drivers that speak to it; the second reading says
// something of the rate as soon as it is 10 ms away from the first.
constexpr long kBeatNs = 100000000;
constexpr long kFirstBeatNs = 20000000;
constexpr unsigned kFirstBeats = 3;

// Once a second: has somebody else set what is stamped?
constexpr unsigned kCheckBeats = 10;

// nicstamp refuses longer ones: somebody interrupted the reading.
constexpr std::int64_t kWidthMaxNs = 1000000;

// A program that was stopped before it told tells too late, once; one whose CLOCK_MONOTONIC is not the
// kernel's (a time namespace) is refused always. This is a second.
constexpr unsigned kRefusedMost = 10;

// Signals that end it wait until they are asked for. Nobody need read what it prints.
class Ending {
public:
	Ending()
	{
		sigemptyset(&set_);
		for (int number : {SIGINT, SIGTERM, SIGHUP})
			sigaddset(&set_, number);
		sigprocmask(SIG_BLOCK, &set_, nullptr);
		signal(SIGPIPE, SIG_IGN);
	}

	// Waits, unless it is the end.
	bool comes_within(long ns) const
	{
		timespec time = {0, ns};

		return sigtimedwait(&set_, nullptr, &time) > 0;
	}

private:
	sigset_t set_;
};

void name_device(nlmsghdr *message, const std::string &name, const Netns *netns)
{
	mnl_attr_put_strz(message, STAMPS_A_DEV, name.c_str());
	if (netns)
		mnl_attr_put_u32(message, STAMPS_A_NETNS_FD, netns->fd());
}

// The device is in use by the generic feed, as long as this lives if it was not before.
class Use {
public:
	Use(Genl &family, const StampConfig &config, const Netns *netns)
		: family_(family), config_(config), netns_(netns)
	{
		try {
			call(STAMPS_CMD_USE);
			ours_ = true;
		} catch (const KernelError &error) {
			if (error.number() != EEXIST)
				throw;
		}
	}

	// It may be gone, or nicstamp.
	~Use()
	{
		if (!ours_)
			return;
		try {
			call(STAMPS_CMD_DROP);
		} catch (const Error &) {
		}
	}

	Use(const Use &) = delete;
	Use &operator=(const Use &) = delete;

private:
	void call(std::uint8_t command)
	{
		std::string name = config_.name();

		family_.call(command, [this, &name](nlmsghdr *message) {
			name_device(message, name, netns_);
		}, nullptr);
	}

	Genl &family_;
	const StampConfig &config_;
	const Netns *netns_;
	bool ours_ = false;
};

// The number that readings are told for.
std::uint32_t begin(Genl &family, const StampConfig &config, const Netns *netns,
		    std::uint32_t step_ns)
{
	std::string name = config.name();
	std::uint32_t number = 0;

	family.call(STAMPS_CMD_FOLLOW, [&](nlmsghdr *message) {
		name_device(message, name, netns);
		mnl_attr_put_u32(message, STAMPS_A_STEP_NS, step_ns);
	}, [&number](const Attributes &a) {
		number = attribute_u32(a.at(STAMPS_A_NUMBER));
	});
	return number;
}

// What the clock says, told for the device of that number.
class Readings {
public:
	Readings(Genl &family, std::uint32_t number, Phc &clock)
		: family_(family), number_(number), clock_(clock)
	{
	}

	// One that was interrupted is left out: the next comes soon, and without any for a second
	// nicstamp goes back to the host's stamps. So it does when the clock was set before 1970.
	void next()
	{
		std::optional<Crossing> crossing = clock_.read();

		if (!crossing || crossing->nic_ns <= 0 ||
		    crossing->after_ns - crossing->before_ns > kWidthMaxNs)
			return;
		try {
			tell(*crossing);
			refused_ = 0;
		} catch (const KernelError &error) {
			if (error.number() != EINVAL || ++refused_ >= kRefusedMost)
				throw;
		}
	}

private:
	void tell(const Crossing &crossing)
	{
		family_.call(STAMPS_CMD_READING, [&](nlmsghdr *message) {
			mnl_attr_put_u32(message, STAMPS_A_NUMBER, number_);
			mnl_attr_put_u64(message, STAMPS_A_BEFORE_NS, crossing.before_ns);
			mnl_attr_put_u64(message, STAMPS_A_NIC_NS, crossing.nic_ns);
			mnl_attr_put_u64(message, STAMPS_A_AFTER_NS, crossing.after_ns);
		}, nullptr);
	}

	Genl &family_;
	std::uint32_t number_;
	Phc &clock_;
	unsigned refused_ = 0;	// in a row
};

// At once: who reads it waits for it.
void tell(const FollowOptions &options, const std::string &clock)
{
	if (options.json)
		std::cout << nlohmann::ordered_json{{"dev", options.device}, {"rx_clock", "nic"}, {"path", clock}}.dump(2)
			  << std::endl;
	else
		std::cout << options.device << ": received frames are stamped by the NIC, whose clock is " << clock
			  << std::endl;
}

}  // namespace

void follow_device(Genl &family, const FollowOptions &options)
{
	Ending ending;
	std::unique_ptr<Netns> netns;

	if (!options.netns.empty())
		netns = std::make_unique<Netns>(options.netns);
	StampConfig config(options.device, netns.get());
	Phc clock(config.clock(Stamps::all_received));
	check_nobodys(config.get(), options.device);
	Use use(family, config, netns.get());
	Readings readings(family, begin(family, config, netns.get(), options.step_ns), clock);
	AllStamped stamped(config, options.device);

	tell(options, clock.path());
	for (unsigned beat = 0;; beat++) {
		if (ending.comes_within(beat < kFirstBeats ? kFirstBeatNs : kBeatNs))
			return;
		if (beat % kCheckBeats == 0)
			stamped.check();
		readings.next();
	}
}

}  // namespace turnpike
