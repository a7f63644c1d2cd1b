// SPDX-License-Identifier: GPL-2.0
#include "mesh_link.h"

#include <chrono>
#include <random>

namespace turnpike {

std::uint64_t new_run()
{
	std::random_device random;
	std::uint64_t run = 0;

	while (!run)
		run = std::uint64_t(random()) << 32 | random();
	return run;
}

MeshLink::MeshLink(const ClockdMesh &mesh, HostNumber coordinator, const std::vector<OnrampNumberedKey> &keys,
		   std::int64_t window_ns, double grain_ns)
	: mesh_(mesh), number_(coordinator), keys_(keys), digest_(hosts_digest(mesh.hosts)), known_(window_ns, grain_ns)
{
	if (coordinator == mesh.own)
		coordinator_.emplace(mesh.hosts.size(), mesh.own, mesh.edges, window_ns, grain_ns);
	for (std::size_t i = 0; i < (coordinator_ ? mesh.hosts.size() : 1); i++)
		hosts_.push_back({WordSession(new_run())});
}

bool MeshLink::heard(HostNumber from, const std::uint8_t *bytes, std::size_t length, std::int64_t at_ns)
{
	if (coordinator_)
		return from != mesh_.own && heard_report(from, bytes, length, at_ns);
	return from == number_ && heard_answer(bytes, length, at_ns);
}

bool MeshLink::heard_report(HostNumber from, const std::uint8_t *bytes, std::size_t length, std::int64_t at_ns)
{
	std::optional<ClockReport> report = report_decode(bytes, length, mesh_.hosts[from], keys_, mesh_.hosts.size());

	if (!report)
		return false;
	// Who is not believed yet is answered, and says our run next time.
	bool believed = hosts_[from].session.heard(report->numbers);
	hosts_[from].heard = true;
	hosts_[from].stranger = report->digest != digest_;
	if (believed && !hosts_[from].stranger)
		coordinator_->heard(from, at_ns, std::move(*report));
	return true;
}

bool MeshLink::heard_answer(const std::uint8_t *bytes, std::size_t length, std::int64_t at_ns)
{
	std::optional<ClockAnswer> answer =
		answer_decode(bytes, length, mesh_.hosts[number_], keys_, mesh_.hosts.size());

	if (!answer || !hosts_.front().session.heard(answer->numbers))
		return false;
	stranger_ = answer->digest != digest_;
	if (!stranger_ && known_.heard(*answer, at_ns))
		answered_ = true;
	return true;
}

void MeshLink::window(std::vector<ReportedEdge> edges, std::vector<HostNumber> wanted, std::int64_t now_ns)
{
	ClockReport report = {{}, digest_, std::move(edges), std::move(wanted)};

	if (!coordinator_) {
		report.numbers = hosts_.front().session.next();
		to_send_.push_back({number_, report_encode(report, mesh_.hosts[mesh_.own], keys_.front())});
		return;
	}
	coordinator_->heard(mesh_.own, now_ns, std::move(report));
	// one that takes longer than a window is waited for
	if (solution_.valid())
		return;
	problem_ = coordinator_->problem(now_ns);
	// Probes go on: a thousand hosts take a tenth of a second.
	solution_ = std::async(std::launch::async,
			       [this, problem = problem_] { return coordinator_->solve(problem); });
}

bool MeshLink::look(std::int64_t now_ns)
{
	if (solution_.valid() && solution_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
		coordinator_->solved(std::move(problem_), solution_.get());
		for (const ClockAnswer &answer : coordinator_->answers(mesh_.own))
			answered_ |= known_.heard(answer, now_ns);
		send_answers();
	}
	return std::exchange(answered_, false);
}

void MeshLink::send_answers()
{
	for (HostNumber to = 0; to < hosts_.size(); to++) {
		if (!std::exchange(hosts_[to].heard, false))
			continue;
		std::vector<ClockAnswer> answers = coordinator_->answers(to);
		// who has another file gets to know that, and no more
		if (hosts_[to].stranger)
			answers = {ClockAnswer{}};
		for (ClockAnswer &answer : answers) {
			answer.numbers = hosts_[to].session.next();
			answer.digest = digest_;
			to_send_.push_back({to, answer_encode(answer, mesh_.hosts[mesh_.own], keys_.front())});
		}
	}
}

std::string MeshLink::trouble(std::int64_t now_ns) const
{
	if (stranger_)
		return "has another file of hosts";
	if (!known_.is_answered(now_ns))
		return "does not answer";
	if (known_.is_left_out())
		return "leaves this host out, whose probes do not fit those of the others";
	return known_.is_known() ? "" : "does not know this host's clock yet";
}

std::vector<HostNumber> MeshLink::misfits() const
{
	return coordinator_ ? coordinator_->misfits() : std::vector<HostNumber>();
}

std::vector<HostNumber> MeshLink::strangers() const
{
	std::vector<HostNumber> strangers;

	for (HostNumber host = 0; coordinator_ && host < hosts_.size(); host++) {
		if (hosts_[host].stranger)
			strangers.push_back(host);
	}
	return strangers;
}

}  // namespace turnpike
