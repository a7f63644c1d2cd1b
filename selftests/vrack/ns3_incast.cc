// SPDX-License-Identifier: GPL-2.0
//
// The load of selftests/vrack/bench in ns-3: 40 CUBIC flows from 10 hosts into one port of 20 Gbit/s. bench compiles it with
// Debian's libns3-dev for --against-ns3.
//
// Prints three numbers: frames that left a NIC or a switch port, seconds of processor, and Gbit/s of goodput.
#include <sys/resource.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

namespace {

constexpr unsigned kHosts = 10, kFlowsPerHost = 4, kFirstPort = 5000;

std::uint64_t hops;

void frame_left(ns3::Ptr<const ns3::Packet>)
{
	hops++;
}

double processor_s()
{
	rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

// As the rack has them: the default of Linux where ns-3's is another, and the rack's frames.
void set_defaults()
{
	ns3::Config::SetDefault("ns3::TcpL4Protocol::SocketType", ns3::StringValue("ns3::TcpCubic"));
	ns3::Config::SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(1448));
	ns3::Config::SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(10));
	ns3::Config::SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(4 << 20));
	ns3::Config::SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(6 << 20));
}

// A host on the switch.  Returns its address.
ns3::Ipv4Address connect(ns3::Ptr<ns3::Node> host, ns3::Ptr<ns3::Node> network_switch, const std::string &rate, unsigned number)
{
	ns3::PointToPointHelper link;
	ns3::Ipv4AddressHelper addresses;

	link.SetDeviceAttribute("DataRate", ns3::StringValue(rate));
	link.SetChannelAttribute("Delay", ns3::StringValue("2us"));
	link.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue("4MB"));
	ns3::NetDeviceContainer ends = link.Install(host, network_switch);
	addresses.SetBase(("10.1." + std::to_string(number) + ".0").c_str(), "255.255.255.0");
	ns3::Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
	// The devices' own queues alone, as in the rack.
	ns3::TrafficControlHelper().Uninstall(ends);
	for (unsigned i = 0; i < ends.GetN(); i++)
		ends.Get(i)->TraceConnectWithoutContext("PhyTxEnd", ns3::MakeCallback(&frame_left));
	return interfaces.GetAddress(0);
}

ns3::Ptr<ns3::PacketSink> begin_flow(ns3::Ptr<ns3::Node> from, ns3::Ptr<ns3::Node> to, ns3::Ipv4Address address, unsigned number)
{
	std::uint16_t port = kFirstPort + number;
	ns3::PacketSinkHelper sink("ns3::TcpSocketFactory", ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
	ns3::BulkSendHelper bulk("ns3::TcpSocketFactory", ns3::InetSocketAddress(address, port));

	bulk.SetAttribute("SendSize", ns3::UintegerValue(65536));
	bulk.Install(from).Start(ns3::MicroSeconds(25 * number));
	return ns3::DynamicCast<ns3::PacketSink>(sink.Install(to).Get(0));
}

} // namespace

int main(int argc, char **argv)
{
	double seconds = argc == 2 ? std::stod(argv[1]) : 0;
	ns3::NodeContainer hosts, others;
	std::vector<ns3::Ptr<ns3::PacketSink>> sinks;
	std::uint64_t bytes = 0;

	if (seconds <= 0) {
		std::cerr << "usage: ns3_incast SECONDS\n";
		return 2;
	}
	set_defaults();
	hosts.Create(kHosts);
	others.Create(2);
	ns3::Ptr<ns3::Node> network_switch = others.Get(0), server = others.Get(1);
	ns3::InternetStackHelper().InstallAll();
	for (unsigned i = 0; i < kHosts; i++)
		connect(hosts.Get(i), network_switch, "10Gbps", i);
	ns3::Ipv4Address address = connect(server, network_switch, "20Gbps", kHosts);
	ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
	for (unsigned i = 0; i < kHosts * kFlowsPerHost; i++)
		sinks.push_back(begin_flow(hosts.Get(i % kHosts), server, address, i));

	double began_s = processor_s();
	ns3::Simulator::Stop(ns3::Seconds(seconds));
	ns3::Simulator::Run();
	double took_s = processor_s() - began_s;
	for (const auto &sink : sinks)
		bytes += sink->GetTotalRx();
	std::cout << hops << ' ' << took_s << ' ' << bytes * 8 / seconds / 1e9 << '\n';
	ns3::Simulator::Destroy();
}
