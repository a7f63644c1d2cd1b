// SPDX-License-Identifier: GPL-2.0
#include "chrony.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include <glob.h>

#include "../process.h"

namespace turnpike {
namespace {

// In the order of chronyc's report.
enum Field {
	kReference,		// as a number
	kAddress,		// the same, as an address or a name
	kStratum,
	kUpdated,
	kCorrection,		// s, still to be corrected
	kLastOffset,
	kRmsOffset,
	kFrequency,
	kResidual,		// ppm, by which the clock is still wrong
	kSkew,			// ppm, the error of that
	kDelay,			// s, to the reference and back
	kDispersion,		// s
	kInterval,
	kLeap,
	kFields,
};

// Where drivers of clocks of NICs have it.
constexpr char kBounds[] = "/sys/class/ptp/ptp*/device/phc_error_bound";

// A driver that knows no bound at the moment says this or more.
constexpr std::int64_t kNoBound = UINT32_MAX;

std::vector<std::string> split(const std::string &line)
{
	std::vector<std::string> fields;
	std::istringstream stream(line);
	std::string field;

	while (std::getline(stream, field, ','))
		fields.push_back(field);
	return fields;
}

double number(const std::string &text)
{
	char *end;
	double value = std::strtod(text.c_str(), &end);

	if (text.empty() || *end || !std::isfinite(value))
		throw ClockLost("chronyc says '" + text + "' where a number is expected");
	return value;
}

// Rounded up: a bound. Years are longer than all that counts.
std::int64_t ns_of(double seconds)
{
	return static_cast<std::int64_t>(std::ceil(std::min(std::fabs(seconds), 1e8) * 1e9));
}

std::string first_line(const std::string &text)
{
	return text.substr(0, text.find('\n'));
}

bool is_phc(const std::string &reference)
{
	return reference.rfind("PHC", 0) == 0;
}

class Chrony : public ClockSource {
public:
	std::string name() const override { return "chrony"; }

	ClockReading read() override
	{
		Ended ended = run({"chronyc", "-n", "-c", "tracking"});

		if (ended.status)
			throw ClockLost("chronyc: " + first_line(ended.errors.empty() ? ended.output : ended.errors));
		ClockReading reading = chrony_reading(ended.output);
		if (is_phc(reading.reference))
			reading.error_ns += phc_error_bound_ns(kBounds);
		return reading;
	}
};

}  // namespace

ClockReading chrony_reading(const std::string &tracking)
{
	std::vector<std::string> fields = split(first_line(tracking));

	if (fields.size() != kFields)
		throw ClockLost("chronyc says " + std::to_string(fields.size()) + " values where " +
				std::to_string(kFields) + " are expected");
	if (fields[kLeap] == "Not synchronised" || fields[kReference] == "00000000")
		throw ClockLost("chronyd is not synchronized");
	return {
		ns_of(number(fields[kCorrection])) + ns_of(number(fields[kDispersion])) + ns_of(number(fields[kDelay]) / 2),
		static_cast<std::int64_t>(std::ceil((std::fabs(number(fields[kResidual])) + std::fabs(number(fields[kSkew]))) * 1e3)),
		0,	// in the dispersion
		fields[kAddress],
	};
}

std::int64_t phc_error_bound_ns(const std::string &pattern)
{
	glob_t found = {};
	std::int64_t most = 0;

	if (!glob(pattern.c_str(), 0, nullptr, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			std::int64_t bound = -1;

			std::ifstream(found.gl_pathv[i]) >> bound;
			most = bound < 0 ? kNoBound : std::max(most, bound);
		}
	}
	globfree(&found);
	if (most >= kNoBound)
		throw ClockLost("the NIC's clock does not know its error");
	return most;
}

std::unique_ptr<ClockSource> chrony_source()
{
	return std::make_unique<Chrony>();
}

}  // namespace turnpike
