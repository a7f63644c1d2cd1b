// SPDX-License-Identifier: GPL-2.0
//
// What turnpike clock follow makes of what chrony, ptp4l and the kernel say, and what it tells of it.
#include <fstream>

#include <gtest/gtest.h>

#include "tools/turnpike/clock/chrony.h"
#include "tools/turnpike/clock/follower.h"
#include "tools/turnpike/clock/kernel_clock.h"
#include "tools/turnpike/clock/ptp4l.h"

using namespace turnpike;

namespace {

constexpr std::int64_t kSecond = 1000000000;

// -- chrony

const std::string kTracking =
	"A9FEA97B,169.254.169.123,4,1700000000.123456789,-0.000001500,0.000000123,0.000002345,-12.345,-0.002,0.010,"
	"0.000300000,0.000100000,16.1,Normal\n";

TEST(chrony_reading, bound__is_dispersion_half_of_the_delay_and_the_correction)
{
	ClockReading reading = chrony_reading(kTracking);

	EXPECT_EQ(reading.error_ns, 100000 + 150000 + 1500);
	EXPECT_EQ(reading.drift_ppb, 12);
	EXPECT_EQ(reading.age_ns, 0);
	EXPECT_EQ(reading.reference, "169.254.169.123");
}

std::string with(const std::string &what, const std::string &instead)
{
	std::string text = kTracking;

	return text.replace(text.find(what), what.size(), instead);
}

TEST(chrony_reading, not_synchronized__is_lost)
{
	EXPECT_THROW(chrony_reading(with("Normal", "Not synchronised")), ClockLost);
	EXPECT_THROW(chrony_reading(with("A9FEA97B", "00000000")), ClockLost);
}

TEST(chrony_reading, what_is_no_report__is_lost)
{
	EXPECT_THROW(chrony_reading(""), ClockLost);
	EXPECT_THROW(chrony_reading("506 Cannot talk to daemon\n"), ClockLost);
	EXPECT_THROW(chrony_reading(with(",Normal", "")), ClockLost);
	EXPECT_THROW(chrony_reading(with("0.000100000", "much")), ClockLost);
	EXPECT_THROW(chrony_reading(with("0.000100000", "nan")), ClockLost);
	EXPECT_THROW(chrony_reading(with("0.000100000", "")), ClockLost);
}

TEST(chrony_reading, absurd_dispersion__is_a_bound_still)
{
	EXPECT_GE(chrony_reading(with("0.000100000", "1e300")).error_ns, kSecond);
}

class PhcErrorBound : public testing::Test {
protected:
	void write(const std::string &name, const std::string &text)
	{
		std::ofstream(place_ + name) << text;
	}

	std::string place_ = testing::TempDir() + "phc_error_bound.";

	void TearDown() override
	{
		std::remove((place_ + "0").c_str());
		std::remove((place_ + "1").c_str());
	}
};

TEST_F(PhcErrorBound, of_no_file__is_nothing)
{
	EXPECT_EQ(phc_error_bound_ns(place_ + "*"), 0);
}

TEST_F(PhcErrorBound, of_several__is_the_largest)
{
	write("0", "1500\n");
	write("1", "900\n");
	EXPECT_EQ(phc_error_bound_ns(place_ + "*"), 1500);
}

TEST_F(PhcErrorBound, that_the_driver_does_not_know__is_lost)
{
	write("0", "4294967295\n");
	write("1", "900\n");
	EXPECT_THROW(phc_error_bound_ns(place_ + "*"), ClockLost);
	write("0", "-1\n");
	EXPECT_THROW(phc_error_bound_ns(place_ + "*"), ClockLost);
	write("0", "");
	EXPECT_THROW(phc_error_bound_ns(place_ + "*"), ClockLost);
}

// -- the kernel

TEST(kernel_reading, bound__is_its_maxerror_and_what_is_to_be_corrected)
{
	timex told = {};

	told.maxerror = 250;
	told.offset = -40;
	EXPECT_EQ(kernel_reading(told, TIME_OK, false).error_ns, 290000);
	told.status = STA_NANO;
	EXPECT_EQ(kernel_reading(told, TIME_OK, false).error_ns, 250040);
	EXPECT_EQ(kernel_reading(told, TIME_OK, false).drift_ppb, 500000);
}

TEST(kernel_reading, not_synchronized__is_lost)
{
	timex told = {};

	EXPECT_THROW(kernel_reading(told, TIME_ERROR, false), ClockLost);
	told.status = STA_UNSYNC;
	EXPECT_THROW(kernel_reading(told, TIME_OK, false), ClockLost);
}

TEST(kernel_reading, of_timesyncd__which_says_0_is_lost)
{
	EXPECT_THROW(kernel_reading(timex{}, TIME_OK, true), ClockLost);
}

// -- ptp4l

// What pmc of linuxptp 3.1 prints.
std::string printed(const std::string &state = "SLAVE", const std::string &present = "true",
		    const std::string &stamping = "HARDWARE")
{
	return "sending: GET TIME_STATUS_NP\n"
	       "\taaaaaa.fffe.000001-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP \n"
	       "\t\tmaster_offset              -13\n"
	       "\t\tingress_time               1700000037123456789\n"
	       "\t\tgmPresent                  " + present + "\n"
	       "\t\tgmIdentity                 bbbbbb.fffe.000002\n"
	       "sending: GET CURRENT_DATA_SET\n"
	       "\taaaaaa.fffe.000001-0 seq 1 RESPONSE MANAGEMENT CURRENT_DATA_SET \n"
	       "\t\tstepsRemoved     1\n"
	       "\t\toffsetFromMaster -13.0\n"
	       "\t\tmeanPathDelay    534.0\n"
	       "sending: GET TIME_PROPERTIES_DATA_SET\n"
	       "\t\tcurrentUtcOffset      37\n"
	       "\t\tptpTimescale          1\n"
	       "sending: GET PORT_PROPERTIES_NP\n"
	       "\t\tportIdentity            aaaaaa.fffe.000001-1\n"
	       "\t\tportState               MASTER\n"
	       "\t\ttimestamping            HARDWARE\n"
	       "\t\tinterface               eth7\n"
	       "\t\tportIdentity            aaaaaa.fffe.000001-2\n"
	       "\t\tportState               " + state + "\n"
	       "\t\ttimestamping            " + stamping + "\n"
	       "\t\tinterface               eth1\n";
}

TEST(ptp_status, of_a_slave__is_read)
{
	PtpStatus status = ptp_status(printed());

	EXPECT_EQ(status.offset_ns, -13);
	EXPECT_EQ(status.delay_ns, 534);
	EXPECT_EQ(status.synced_ns, 1700000037123456789);
	EXPECT_EQ(status.utc_offset_s, 37);
	EXPECT_EQ(status.grandmaster, "bbbbbb.fffe.000002");
	EXPECT_EQ(status.device, "eth1");
}

TEST(ptp_status, by_software__steers_no_clock_of_a_nic)
{
	EXPECT_EQ(ptp_status(printed("SLAVE", "true", "SOFTWARE")).device, "");
}

TEST(ptp_status, of_an_arbitrary_timescale__has_no_offset_from_utc)
{
	std::string text = printed();

	text.replace(text.find("ptpTimescale          1"), 23, "ptpTimescale          0");
	EXPECT_EQ(ptp_status(text).utc_offset_s, 0);
}

TEST(ptp_status, without_a_master__is_lost)
{
	EXPECT_THROW(ptp_status(printed("LISTENING")), ClockLost);
	EXPECT_THROW(ptp_status(printed("SLAVE", "false")), ClockLost);
	EXPECT_THROW(ptp_status(""), ClockLost);
}

TEST(ptp_status, while_the_clock_is_set__voids_what_was_known)
{
	EXPECT_THROW(ptp_status(printed("UNCALIBRATED")), ClockUnsettled);
}

TEST(ptp_status, without_a_value__is_lost)
{
	std::string text = printed();

	text.erase(text.find("meanPathDelay"), 13);
	EXPECT_THROW(ptp_status(text), ClockLost);
}

TEST(clocks_apart_ns, of_a_crossing__is_the_worst_that_can_be)
{
	constexpr std::int64_t kTai = 37 * kSecond;

	EXPECT_EQ(clocks_apart_ns({1000, kTai + 1400, 2000}, 37), 600);
	EXPECT_EQ(clocks_apart_ns({1000, kTai + 1600, 2000}, 37), 600);
	EXPECT_EQ(clocks_apart_ns({1000, kTai + 5000, 2000}, 37), 4000);
	EXPECT_EQ(clocks_apart_ns({1000, 500, 2000}, 0), 1500);
	EXPECT_EQ(clocks_apart_ns({1000, 1000, 1000}, 0), 0);
}

PtpStatus synced(std::int64_t at_ns, std::int64_t offset_ns, std::int64_t delay_ns = 500)
{
	return {offset_ns, delay_ns, at_ns, 0, "", ""};
}

TEST(PtpError, of_few_looks__is_twice_the_largest_offset)
{
	PtpError error;

	EXPECT_EQ(error.heard(synced(1, -90), 0).error_ns, 188);
	for (int i = 0; i < 7; i++)
		EXPECT_EQ(error.heard(synced(2 + i, 10), 0).error_ns, 188);
	// the ninth look
	EXPECT_EQ(error.heard(synced(9, 10), 0).error_ns, 28);
}

TEST(PtpError, of_a_delay_above_the_least__has_that_in_it)
{
	PtpError error;

	error.heard(synced(1, 0, 500), 0);
	EXPECT_EQ(error.heard(synced(2, 0, 3500), 0).error_ns, 6008);
	EXPECT_EQ(error.heard(synced(3, 0, 400), 0).error_ns, 8);
}

TEST(PtpError, of_a_path_that_is_longer__forgets_the_shorter)
{
	PtpError error;
	int looks = 0;

	error.heard(synced(0, 0, 500), 0);
	while (error.heard(synced(1, 0, 900), 0).error_ns == 808)
		ASSERT_LT(++looks, 1000);
	EXPECT_EQ(looks, 127);
	EXPECT_EQ(error.heard(synced(2, 0, 900), 0).error_ns, 8);
}

TEST(PtpError, without_a_new_sync__grows_old)
{
	PtpError error;

	EXPECT_EQ(error.heard(synced(1, 0), 10 * kSecond).age_ns, 0);
	EXPECT_EQ(error.heard(synced(1, 0), 12 * kSecond).age_ns, 2 * kSecond);
	EXPECT_EQ(error.heard(synced(2, 0), 14 * kSecond).age_ns, 0);
}

// -- what the kernel is told

// Looks each 4 s; 1 ppm on its own.
constexpr unsigned kPoll = 4;
constexpr std::int64_t kDrift = 1000;

TEST(ClockFollower, reading__holds_until_the_next)
{
	ClockFollower follower(kPoll, kDrift);

	EXPECT_EQ(follower.heard({500, 250, 0, ""}, 0), (ClockTold{500 + 1000, 16}));
	EXPECT_EQ(follower.heard({500, 0, 0, ""}, 4 * kSecond), (ClockTold{500, 16}));
}

TEST(ClockFollower, exact__is_1_ns_since_0_is_no_clock)
{
	EXPECT_EQ(ClockFollower(kPoll, kDrift).heard({0, 0, 0, ""}, 0), (ClockTold{1, 16}));
}

TEST(ClockFollower, lost__counts_on_with_its_drift_for_four_polls)
{
	ClockFollower follower(kPoll, kDrift);

	follower.heard({500, 250, 0, ""}, 0);
	// what has drifted, and will until the next look
	EXPECT_EQ(follower.lost(4 * kSecond), (ClockTold{500 + 4000 + 4000, 12}));
	EXPECT_EQ(follower.lost(12 * kSecond), (ClockTold{500 + 12000 + 4000, 4}));
	EXPECT_EQ(follower.lost(16 * kSecond), (ClockTold{0, 0}));
}

TEST(ClockFollower, lost__and_back)
{
	ClockFollower follower(kPoll, kDrift);

	follower.heard({500, 0, 0, ""}, 0);
	follower.lost(4 * kSecond);
	EXPECT_EQ(follower.heard({600, 0, 0, ""}, 8 * kSecond), (ClockTold{600, 16}));
	EXPECT_EQ(follower.lost(12 * kSecond).seconds, 12u);
}

TEST(ClockFollower, unsettled__voids_what_was_heard)
{
	ClockFollower follower(kPoll, kDrift);

	follower.heard({500, 0, 0, ""}, 0);
	EXPECT_EQ(follower.unsettled(), (ClockTold{0, 0}));
	EXPECT_EQ(follower.lost(kSecond), (ClockTold{0, 0}));
	EXPECT_EQ(follower.heard({500, 0, 0, ""}, 2 * kSecond).error_ns, 500u);
}

TEST(ClockFollower, lost__from_the_beginning_is_no_clock)
{
	EXPECT_EQ(ClockFollower(kPoll, kDrift).lost(0), (ClockTold{0, 0}));
}

TEST(ClockFollower, old_reading__counts_as_long_as_one_that_was_lost)
{
	ClockFollower follower(kPoll, kDrift);

	EXPECT_EQ(follower.heard({500, 0, 4 * kSecond, ""}, 20 * kSecond), (ClockTold{500 + 4000, 12}));
	EXPECT_EQ(follower.heard({500, 0, 16 * kSecond, ""}, 32 * kSecond), (ClockTold{0, 0}));
}

TEST(ClockFollower, error_beyond_what_the_kernel_takes__is_no_clock)
{
	ClockFollower follower(kPoll, kDrift);

	EXPECT_EQ(follower.heard({kClockErrorMaxNs, 0, 0, ""}, 0), (ClockTold{1000000, 16}));
	EXPECT_EQ(follower.heard({kClockErrorMaxNs + 1, 0, 0, ""}, 0), (ClockTold{0, 0}));
	EXPECT_EQ(follower.heard({INT64_MAX / 4, 500000, 0, ""}, 0), (ClockTold{0, 0}));
}

TEST(ClockFollower, lost__grows_out_of_what_the_kernel_takes)
{
	ClockFollower follower(kPoll, 500000);

	EXPECT_EQ(follower.heard({1000, 0, 0, ""}, 0).error_ns, 1000u);
	EXPECT_EQ(follower.lost(4 * kSecond), (ClockTold{0, 0}));
}

}  // namespace
