// SPDX-License-Identifier: GPL-2.0
//
// What all types of load have in common: the life of a load, the messages it waits for and the
// meters on its connections.
//
//     prepare()        before time zero: listeners, persistent connections (run until is_ready())
//     start()          time zero: sets its timers
//     open_window()    warmup_s: first reading of the meters
//     close_window()   duration_s: second reading; nothing new is started from here
//     is_drained()     no message of the window is under way
//     result()
//     shut_down()      connections are reset, so that nothing of this run is left in the network
#pragma once

#include "rng.h"
#include "stats.h"
#include "stream.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace vload
{

using Json = nlohmann::ordered_json;

// Times since time zero, in ns
struct Window {
	int64_t zero_ns = 0; // on the loop's clock
	int64_t begin_ns = 0;
	int64_t end_ns = 0;
};

double round_to(double value, int digits);
// {count, mean, min, p50, p90, p99, p999, max}; null without values
Json summary_json(const std::vector<double> &values);

// TCP's own counters of one stream over the measured window: bytes in the direction of the data,
// retransmissions and timeouts of both ends. Survives the stream's being closed and opened again.
class Meter {
public:
	explicit Meter(int data_end = 0) : data_end_(data_end) {}

	void open_window(const Stream &stream);
	void close_window(const Stream &stream);
	// Before a stream is closed
	void account(const Stream &stream);
	// One line of the time series
	void sample(const Stream &stream, double time_us);

	uint64_t bytes() const { return bytes_; }
	uint64_t retransmits() const { return retransmits_; }
	std::optional<uint64_t> rtos() const { return rtos_; }
	const std::string &cc() const { return cc_; }
	void add_rtts_us(std::vector<double> &rtts_us) const;
	void describe(Json &flow, const Window &window) const;

private:
	struct Sample {
		double time_us;
		TcpSnapshot tcp;
	};

	int data_end_;
	bool open_ = false;
	TcpSnapshot first_[2];
	TcpSnapshot last_; // of the data's sender
	uint64_t bytes_ = 0;
	uint64_t retransmits_ = 0;
	std::optional<uint64_t> rtos_;
	std::string cc_;
	std::vector<Sample> series_;
};

class Load : public StreamOwner {
public:
	Load(const LoadConfig &config, Network &network, Loop &loop, Rng rng);

	virtual void prepare() = 0;
	// All that prepare() began is connected.
	bool is_ready() const { return connecting_ == 0 && to_connect_.empty(); }
	virtual void start(const Window &window);
	virtual void open_window();
	virtual void close_window();
	bool is_drained() const { return window_messages_ == 0; }
	Json result();
	virtual void shut_down();

	const LoadConfig &config() const { return config_; }
	static std::unique_ptr<Load> make(const LoadConfig &config, Network &network, Loop &loop, Rng rng);

protected:
	// A message under way
	struct Message {
		Stream *stream = nullptr; // null: not TCP, or the slot is free
		uint64_t bytes = 0;
		int64_t start_ns = 0;	 // on the loop's clock
		int64_t response_ns = 0; // rpc: when the server answered
		size_t group = 0;	 // incast: the round; rpc: the connection
		bool in_window = false;
	};

	// A connection of this load, with its meter; it lives as long as the load.
	Stream &add_stream(HostIndex from, HostIndex to, int data_end);
	// To be opened in prepare()
	void connect_early(Stream &stream);
	Meter &meter(const Stream &stream) { return meters_[stream.tag]; }
	size_t stream_count() const { return streams_.size(); }
	Stream &stream(size_t index) { return *streams_[index]; }

	size_t message_begin(Stream *stream, uint64_t bytes, int64_t start_ns, size_t group);
	Message message_end(size_t slot);
	Message &message(size_t slot) { return messages_[slot]; }
	// Opens the stream when it is closed. false: it cannot be, the message is lost
	bool transmit(size_t slot, int from_end, uint64_t bytes, uint64_t cookie);
	// The stream is about to be closed: nothing may be sent on it from here.
	virtual void message_failed(const Message &) {}
	void note_fct(const Message &message, int64_t start_ns);
	void note_rct(int64_t start_ns);

	bool is_measured(int64_t when_ns) const;
	// No more messages are to be begun.
	bool is_over() const { return closed_ || loop_.now_ns() - window_.zero_ns >= config_.stop_ns; }
	// Counts from time zero, as all times of the configuration
	void at(int64_t when_ns, std::function<void()> callback);
	// Calls back at start_ns and then every gap() until the load is over
	void repeat(int64_t start_ns, std::function<int64_t()> gap, std::function<void(int64_t)> callback);
	double since_zero_us() { return static_cast<double>(loop_.now_ns() - window_.zero_ns) / 1e3; }

	void note_error(const Stream &stream, int error);
	void stream_up(Stream &stream) override;
	void stream_ended(Stream &stream, int error) override;
	// Whether the end of this stream is a matter of course
	virtual bool may_end(const Stream &, int) { return false; }
	virtual Json flows_json();
	virtual std::vector<double> flow_shares(); // for Jain's index
	virtual void add_details(Json &) {}
	void describe_stream(Json &flow, const Stream &stream);

	const LoadConfig &config_;
	Network &network_;
	Loop &loop_;
	Rng rng_;
	Connector connector_;
	Window window_;
	bool window_open_ = false;
	bool closed_ = false;
	std::vector<double> rtt_us_, owd_us_;
	uint64_t lost_messages_ = 0;

private:
	void connect_some();
	void schedule_sample(int64_t when_ns);
	void take_sample();
	void add_totals(Json &json);
	Json samples_json() const;

	std::vector<std::unique_ptr<Stream>> streams_;
	std::vector<Meter> meters_;
	std::vector<Stream *> to_connect_;
	size_t connecting_ = 0;
	std::vector<Message> messages_;
	std::vector<size_t> free_messages_;
	std::vector<double> fct_us_, rct_us_;
	std::vector<uint64_t> fct_bytes_;
	size_t window_messages_ = 0;
	uint64_t begun_messages_ = 0;
	uint64_t errors_ = 0;
	std::string first_error_;
};

std::unique_ptr<Load> make_long_load(const LoadConfig &, Network &, Loop &, Rng);
std::unique_ptr<Load> make_incast_load(const LoadConfig &, Network &, Loop &, Rng);
std::unique_ptr<Load> make_rpc_load(const LoadConfig &, Network &, Loop &, Rng);
std::unique_ptr<Load> make_poisson_load(const LoadConfig &, Network &, Loop &, Rng);
std::unique_ptr<Load> make_ping_load(const LoadConfig &, Network &, Loop &, Rng);

} // namespace vload
