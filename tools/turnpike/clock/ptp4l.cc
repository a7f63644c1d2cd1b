// SPDX-License-Identifier: GPL-2.0
#include "ptp4l.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

#include "../hwtstamp.h"
#include "../monotonic.h"
#include "../process.h"

namespace turnpike {
namespace {

constexpr std::int64_t kSecondNs = 1000000000;

// Stamps and clocks count whole nanoseconds, some NICs eight of them.
constexpr std::int64_t kGrainNs = 8;

using Values = std::map<std::string, std::string>;

// What pmc prints, a name and a value a line: of the clock, and of its ports, which PORT_PROPERTIES_NP tells of last.
class Printed {
public:
	explicit Printed(const std::string &text)
	{
		std::istringstream lines(text);
		std::string line;

		while (std::getline(lines, line)) {
			std::istringstream words(line);
			std::string name, value;

			words >> name >> value;
			if (name == "portIdentity")
				ports_.emplace_back();
			(ports_.empty() ? clock_ : ports_.back())[name] = value;
		}
	}

	// A port in this state; NULL if none is.
	const Values *port(const char *state) const
	{
		auto found = std::find_if(ports_.begin(), ports_.end(), [state](const Values &port) {
			return port.count("portState") && port.at("portState") == state;
		});

		return found == ports_.end() ? nullptr : &*found;
	}

	const Values &clock() const { return clock_; }

private:
	Values clock_;
	std::vector<Values> ports_;
};

const std::string &word(const Values &values, const std::string &name)
{
	auto found = values.find(name);

	if (found == values.end())
		throw ClockLost("ptp4l does not say its " + name);
	return found->second;
}

std::int64_t whole(const Values &values, const std::string &name)
{
	return std::strtoll(word(values, name).c_str(), nullptr, 10);
}

class Ptp4l : public ClockSource {
public:
	Ptp4l(std::string uds, bool nic) : uds_(std::move(uds)), nic_(nic) {}

	std::string name() const override { return "ptp4l"; }

	ClockReading read() override
	{
		PtpStatus status = ask();
		PtpError::Heard heard = error_.heard(status, monotonic_ns());
		std::int64_t apart_ns = nic_ || status.device.empty() ? 0 : apart(status);

		return {heard.error_ns + apart_ns, 0, heard.age_ns, status.grandmaster};
	}

private:
	PtpStatus ask() const
	{
		Ended ended = run({"pmc", "-u", "-b", "0", "-s", uds_, "GET TIME_STATUS_NP", "GET CURRENT_DATA_SET",
				   "GET TIME_PROPERTIES_DATA_SET", "GET PORT_PROPERTIES_NP"});

		if (ended.status || ended.output.find("RESPONSE") == std::string::npos)
			throw ClockLost("ptp4l does not answer at " + uds_);
		return ptp_status(ended.output);
	}

	// The system's clock from the NIC's.
	static std::int64_t apart(const PtpStatus &status)
	{
		try {
			Phc phc(StampConfig(status.device, nullptr).clock(Stamps::any));
			std::optional<Crossing> crossing = phc.read_realtime();

			if (crossing)
				return clocks_apart_ns(*crossing, status.utc_offset_s);
			throw ClockLost(phc.path() + " cannot be read beside the system's clock at present");
		} catch (const ClockLost &) {
			throw;
		} catch (const Error &error) {
			// the device, or its clock, is gone, or in another namespace
			throw ClockLost(error.what());
		}
	}

	std::string uds_;
	bool nic_;
	PtpError error_;
};

}  // namespace

std::int64_t clocks_apart_ns(const Crossing &crossing, std::int64_t utc_offset_s)
{
	std::int64_t nic_ns = crossing.nic_ns - utc_offset_s * kSecondNs;

	return std::max(std::llabs(nic_ns - crossing.before_ns), std::llabs(crossing.after_ns - nic_ns));
}

PtpStatus ptp_status(const std::string &text)
{
	Printed printed(text);
	const Values &clock = printed.clock(), *port = printed.port("SLAVE");

	if (!port && printed.port("UNCALIBRATED"))
		throw ClockUnsettled("ptp4l is setting the clock");
	if (!port || word(clock, "gmPresent") != "true")
		throw ClockLost("ptp4l follows no master");
	return {
		whole(clock, "master_offset"),
		whole(clock, "meanPathDelay"),
		whole(clock, "ingress_time"),
		word(clock, "ptpTimescale") == "1" ? whole(clock, "currentUtcOffset") : 0,
		word(clock, "gmIdentity"),
		word(*port, "timestamping") == "HARDWARE" ? word(*port, "interface") : "",
	};
}

std::int64_t PtpError::least_delay(std::int64_t delay_ns)
{
	if (looks_ % kLeastLooks == 0) {
		least_before_ns_ = least_ns_;
		least_ns_ = delay_ns;
	}
	least_ns_ = std::min(least_ns_, delay_ns);
	return std::min(least_ns_, least_before_ns_);
}

PtpError::Heard PtpError::heard(const PtpStatus &status, std::int64_t now_ns)
{
	std::int64_t queue_ns = status.delay_ns - least_delay(status.delay_ns);

	if (status.synced_ns != synced_ns_)
		changed_ns_ = now_ns;
	synced_ns_ = status.synced_ns;
	offsets_ns_[looks_++ % kLooks] = std::llabs(status.offset_ns);
	return {
		2 * (*std::max_element(offsets_ns_.begin(), offsets_ns_.end()) + queue_ns) + kGrainNs,
		now_ns - changed_ns_,
	};
}

std::unique_ptr<ClockSource> ptp4l_source(const std::string &uds, bool nic)
{
	return std::make_unique<Ptp4l>(uds, nic);
}

}  // namespace turnpike
