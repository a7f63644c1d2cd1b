// SPDX-License-Identifier: GPL-2.0
//
// Things to do at given times besides traffic: change a setting, run a command. Neither holds up
// the loop: a command runs on its own, and its exit code is noted when it is there.
#pragma once

#include "config.h"
#include "net.h"

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vload
{

class Actions {
public:
	Actions(const std::vector<ActionConfig> &actions, Network &network, Loop &loop);
	~Actions();

	void start(int64_t zero_ns);
	// Those that have not happened yet do not happen any more.
	void stop() { stopped_ = true; }
	nlohmann::ordered_json result() const;

private:
	struct Action : Handler {
		explicit Action(const ActionConfig &config) : config(config) {}
		void on_events(uint32_t events) override;
		void perform(Loop &loop);
		void write_text();
		void run(Loop &loop);

		const ActionConfig &config;
		std::optional<int64_t> at_ns;
		std::optional<int> exit_code; // 128 + signal when killed, as the shell has it
		std::string error;
		pid_t pid = -1;
		int pid_fd = -1;
	};

	Network &network_;
	Loop &loop_;
	bool stopped_ = false;
	std::vector<std::unique_ptr<Action>> actions_;
};

} // namespace vload
