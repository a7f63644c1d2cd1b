// SPDX-License-Identifier: GPL-2.0
#include "protocol.h"

#include <charconv>
#include <sstream>

#include "../command.h"
#include "../units.h"

namespace turnpike {
namespace {

constexpr char kName[] = "turnpike-check";
constexpr std::size_t kShown = 40;

bool is_token(const std::string &text)
{
	return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool has_token(const std::string &word)
{
	return word == "bulk" || word == "request" || word == "token";
}

}  // namespace

std::optional<Greeting> parse_greeting(const std::string &line)
{
	std::istringstream words(line);
	std::string name, version, more;
	Greeting greeting;

	words >> name >> version >> greeting.word >> greeting.token >> more;
	auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), greeting.version);
	if (name != kName || error != std::errc() || end != version.data() + version.size() || line.size() >= kLineBytes)
		return std::nullopt;
	// Of another version nothing more is known.
	if (greeting.version != kCheckVersion)
		return greeting;
	bool fits = has_token(greeting.word) ? is_token(greeting.token) : greeting.token.empty();
	if (greeting.word.empty() || !more.empty() || !fits)
		return std::nullopt;
	return greeting;
}

std::string greeting_text(const Greeting &greeting)
{
	return std::string(kName) + " " + std::to_string(greeting.version) + " " + greeting.word +
	       (greeting.token.empty() ? "" : " " + greeting.token) + "\n";
}

std::optional<Greeting> answer_to(const std::string &line, const std::string &session, bool same_host,
				  const std::string &fresh)
{
	std::optional<Greeting> asked = parse_greeting(line);

	if (!asked)
		return std::nullopt;
	if (asked->version != kCheckVersion)
		return Greeting{kCheckVersion, "refused", ""};
	if (asked->word == "open")
		return session.empty() ? Greeting{kCheckVersion, "token", fresh} : Greeting{kCheckVersion, "busy", ""};
	if ((asked->word == "bulk" || asked->word == "request") && same_host && asked->token == session)
		return Greeting{kCheckVersion, "joined", ""};
	return std::nullopt;
}

std::string understood(const std::string &line, const std::string &peer, const std::string &own_address)
{
	if (line.empty())
		throw Error(peer + " closed the connection: does 'turnpike check --serve --allow " + own_address + "' run there?");
	std::optional<Greeting> answer = parse_greeting(line);
	if (!answer)
		throw Error("something else listens at " + peer + ", it says '" + printable(line.substr(0, kShown)) +
			    "': another --port?");
	if (answer->version != kCheckVersion)
		throw Error(peer + " speaks version " + std::to_string(answer->version) + " of this check, this is version " +
			    std::to_string(kCheckVersion) + ": take the same turnpike on both");
	if (answer->word == "busy")
		throw Error(peer + " is checked by another host at the moment: later");
	if (answer->word != "token" && answer->word != "joined")
		throw Error(peer + " refused: '" + printable(answer->word) + "'");
	return answer->token;
}

}  // namespace turnpike
