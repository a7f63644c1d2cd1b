// SPDX-License-Identifier: GPL-2.0
// Options of a TCP header: include/turnpike_tcp_options.h

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "include/turnpike_tcp_options.h"

namespace {

using Bytes = std::vector<u8>;
using Found = std::vector<std::pair<int, Bytes>>;

// In memory of its own, so that the sanitizer sees a byte read behind the end.
Found Read(const Bytes &bytes)
{
	Bytes copy(bytes.begin(), bytes.end());
	tp_tcp_options list = { copy.data(), copy.data() + copy.size() };
	tp_tcp_option option;
	Found found;

	copy.shrink_to_fit();
	while (tp_tcp_option_next(&list, &option))
		found.emplace_back(option.kind, Bytes(option.value, option.value + option.bytes));
	EXPECT_EQ(list.at, list.end);
	EXPECT_FALSE(tp_tcp_option_next(&list, &option));
	return found;
}

TEST(options, of_an_ack_are_all_found)
{
	Bytes ack = { 1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8,
		      1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 9 };
	Found found = Read(ack);

	ASSERT_EQ(found.size(), 2u);
	EXPECT_EQ(found[0], std::make_pair(TP_TCP_OPTION_TS, Bytes({ 1, 2, 3, 4, 5, 6, 7, 8 })));
	EXPECT_EQ(found[1], std::make_pair(TP_TCP_OPTION_SACK, Bytes({ 0, 0, 0, 1, 0, 0, 0, 9 })));
}

TEST(options, without_a_value_are_options)
{
	EXPECT_EQ(Read({ 4, 2, 1, 4, 2 }), Found({ { 4, {} }, { 4, {} } }));
}

TEST(options, behind_the_end_mark_are_none)
{
	EXPECT_EQ(Read({ 4, 2, 0, 0, 4, 2 }), Found({ { 4, {} } }));
	EXPECT_EQ(Read({ 4, 2, 0, 2, 4, 2 }), Found({ { 4, {} } }));
}

TEST(options, of_nothing_are_none)
{
	EXPECT_EQ(Read({}), Found());
	EXPECT_EQ(Read({ 1, 1, 1 }), Found());
}

// A length of 0 would be read for ever, of 1 would cover half of itself.
TEST(options, end_where_one_is_shorter_than_its_head)
{
	EXPECT_EQ(Read({ 4, 2, 9, 0, 4, 2 }), Found({ { 4, {} } }));
	EXPECT_EQ(Read({ 4, 2, 9, 1, 4, 2 }), Found({ { 4, {} } }));
}

TEST(options, end_where_one_is_longer_than_the_list)
{
	EXPECT_EQ(Read({ 4, 2, 9, 5, 4, 2 }), Found({ { 4, {} } }));
	EXPECT_EQ(Read({ 9, 4, 4, 2 }), Found({ { 9, { 4, 2 } } }));
	EXPECT_EQ(Read({ 4, 2, 9 }), Found({ { 4, {} } }));
	EXPECT_EQ(Read({ 4, 2, 9, 255 }), Found({ { 4, {} } }));
}

TEST(sack, counts_whole_blocks)
{
	const std::pair<u8, u32> counts[] = { { 0, 0 }, { 7, 0 }, { 8, 1 }, { 15, 1 }, { 32, 4 } };

	for (auto [bytes, blocks] : counts) {
		tp_tcp_option option = { nullptr, TP_TCP_OPTION_SACK, bytes };

		EXPECT_EQ(tp_tcp_sack_blocks(&option), blocks) << bytes;
	}
}

TEST(value, is_read_in_the_networks_order)
{
	const u8 bytes[] = { 0x80, 0xff, 0x01, 0xfe };

	EXPECT_EQ(tp_tcp_value32(bytes), 0x80ff01feu);
}

}  // namespace
