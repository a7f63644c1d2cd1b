// SPDX-License-Identifier: GPL-2.0
#include "hwtstamp.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "command.h"

namespace turnpike {
void check_nobodys(const hwtstamp_config &config, const std::string &device)
{
	if (config.tx_type != HWTSTAMP_TX_OFF)
		throw Error(device + ": somebody, a PTP daemon maybe, has it stamp what it sends; "
			    "nothing was changed");
	if (config.rx_filter != HWTSTAMP_FILTER_NONE && config.rx_filter != HWTSTAMP_FILTER_ALL)
		throw Error(device + ": somebody, a PTP daemon maybe, has it stamp some received "
			    "packets only; nothing was changed");
}

bool operator==(const hwtstamp_config &one, const hwtstamp_config &other)
{
	return one.flags == other.flags && one.tx_type == other.tx_type &&
	       one.rx_filter == other.rx_filter;
}

StampConfig::StampConfig(const std::string &device, const Netns *netns)
	: device_(device), socket_(socket_in(netns))
{
	ifreq request = {};

	device.copy(request.ifr_name, IFNAMSIZ - 1);
	if (ioctl(socket_.fd(), SIOCGIFINDEX, &request))
		throw Error(device + ": " + std::strerror(errno));
	index_ = request.ifr_ifindex;
}

ifreq StampConfig::request_for(void *data) const
{
	ifreq request = {};

	request.ifr_ifindex = index_;
	if (ioctl(socket_.fd(), SIOCGIFNAME, &request))
		throw Error(device_ + ": " + std::strerror(errno));
	request.ifr_data = static_cast<char *>(data);
	return request;
}

std::string StampConfig::name() const
{
	return request_for(nullptr).ifr_name;
}

int StampConfig::clock(Stamps wanted) const
{
	ethtool_ts_info info = {};

	info.cmd = ETHTOOL_GET_TS_INFO;
	ifreq request = request_for(&info);
	if (ioctl(socket_.fd(), SIOCETHTOOL, &request))
		throw Error(device_ + ": " + std::strerror(errno));
	if (info.phc_index < 0)
		throw Error(device_ + ": the NIC has no clock of its own");
	if (wanted == Stamps::all_received &&
	    (!(info.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE) || !(info.rx_filters & 1U << HWTSTAMP_FILTER_ALL)))
		throw Error(device_ + ": the NIC cannot stamp all frames that it receives");
	return info.phc_index;
}

hwtstamp_config StampConfig::get() const
{
	hwtstamp_config config = {};
	ifreq request = request_for(&config);

	if (!ioctl(socket_.fd(), SIOCGHWTSTAMP, &request))
		return config;
	if (errno == EOPNOTSUPP)
		throw Error(device_ + ": the driver does not tell who has it stamp what");
	throw Error(device_ + ": what it stamps cannot be read: " + std::strerror(errno));
}

void StampConfig::set(hwtstamp_config config) const
{
	ifreq request = request_for(&config);

	if (ioctl(socket_.fd(), SIOCSHWTSTAMP, &request))
		throw Error(device_ + ": what it stamps cannot be set: " + std::strerror(errno));
}

AllStamped::AllStamped(const StampConfig &config, const std::string &device, SentFrames sent)
	: config_(config), device_(device), before_(config.get()), ours_(before_)
{
	ours_.rx_filter = HWTSTAMP_FILTER_ALL;
	if (sent == SentFrames::stamped)
		ours_.tx_type = HWTSTAMP_TX_ON;
	// as who was killed left it, or a PTP daemon whose NIC stamps all: whoever it is gets what he wants
	if (sent == SentFrames::stamped && before_ == ours_)
		return;
	check_nobodys(before_, device);
	if (before_ == ours_)
		return;
	config_.set(ours_);
	if (config_.get() == ours_)
		return;
	config_.set(before_);
	throw Error(device + ": the driver does not stamp all frames that are wanted");
}

AllStamped::~AllStamped()
{
	if (left_ || before_ == ours_)
		return;
	try {
		check();
		config_.set(before_);
	} catch (const Error &error) {
		std::cerr << error.what() << "; it is left as it is\n";
	}
}

void AllStamped::check()
{
	if (config_.get() == ours_)
		return;
	left_ = true;
	throw Error(device_ + ": somebody else has set what it stamps");
}

}  // namespace turnpike
