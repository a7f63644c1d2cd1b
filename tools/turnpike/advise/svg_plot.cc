// SPDX-License-Identifier: GPL-2.0
#include "svg_plot.h"

#include <algorithm>
#include <cmath>

#include "../units.h"

namespace turnpike {
namespace {

constexpr double kWidth = 640, kLeft = 64, kRight = 160, kPanel = 180, kTop = 56, kGap = 48, kFoot = 56;
// Okabe and Ito's, which people who see fewer colours tell apart, too.
constexpr const char *kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

std::string number(double value) { return number_text("%.1f", value); }

std::string text(double x, double y, const char *anchor, const std::string &words, const char *more = "")
{
	std::string safe;

	for (char c : words)
		safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
	return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\"" + more + ">" +
	       safe + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char *colour)
{
	return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" +
	       number(y2) + "\" stroke=\"" + colour + "\"/>\n";
}

struct Axis {
	double low, high, from, to;
	double tick = 0;	// between lines

	double at(double value) const
	{
		return from + (to - from) * (high > low ? (value - low) / (high - low) : 0.5);
	}
};

// 1, 2 or 5 times a power of ten, five or so of them in the axis.
double tick_of(double range)
{
	double power = std::pow(10, std::floor(std::log10(range / 4))), part = range / 4 / power;

	return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

Axis y_axis(const PlotPanel &panel, double top)
{
	double low = panel.zero ? 0 : HUGE_VAL, high = panel.zero ? 0 : -HUGE_VAL;

	for (const PlotLine &l : panel.lines)
		for (const auto &[x, y] : l.points) {
			low = std::min(low, y);
			high = std::max(high, y);
		}
	double tick = tick_of(std::max(high - low, 1e-9));
	return {std::floor(low / tick) * tick, std::ceil(high / tick) * tick, top + kPanel, top, tick};
}

std::string frame(const PlotPanel &panel, const Axis &x, const Axis &y)
{
	std::string svg = text(kLeft, y.to - 10, "start", panel.title, " font-weight=\"bold\"");

	for (double value = y.low; value <= y.high + y.tick / 2; value += y.tick) {
		bool zero = std::fabs(value) < y.tick / 1e6;

		svg += line(x.from, y.at(value), x.to, y.at(value), zero ? "#666666" : "#e0e0e0");
		svg += text(kLeft - 8, y.at(value) + 4, "end", number_text("%g", zero ? 0 : value));
	}
	return svg;
}

std::string curve(const PlotLine &l, const char *colour, const Axis &x, const Axis &y)
{
	std::string svg = "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + std::string(colour) + "\"" +
			  (l.dashed ? " stroke-dasharray=\"6 4\"" : "") + " points=\"";
	std::string marks;

	for (const auto &[px, py] : l.points) {
		std::string cx = number(x.at(std::log(px))), cy = number(y.at(py));

		svg += cx + "," + cy + " ";
		marks += "<circle cx=\"" + cx + "\" cy=\"" + cy + "\" r=\"3\" fill=\"" + colour + "\"/>\n";
	}
	return svg + "\"/>\n" + marks;
}

bool has_points(const PlotPanel &panel)
{
	return std::any_of(panel.lines.begin(), panel.lines.end(), [](const PlotLine &l) { return !l.points.empty(); });
}

}  // namespace

std::string svg_plot(const std::string &title, const std::string &x_title, const std::vector<double> &xs,
		     const std::vector<PlotPanel> &panels)
{
	Axis x = {std::log(xs.front()), std::log(xs.back()), kLeft, kWidth - kRight};
	double top = kTop;
	std::string body;

	for (const PlotPanel &panel : panels) {
		if (!has_points(panel))
			continue;
		Axis y = y_axis(panel, top);

		body += frame(panel, x, y);
		for (std::size_t i = 0; i < panel.lines.size(); i++) {
			const char *colour = kColours[i % std::size(kColours)];
			double at = top + 10 + 18 * i;

			if (panel.lines[i].points.empty())
				continue;
			body += curve(panel.lines[i], colour, x, y) + line(x.to + 12, at, x.to + 30, at, colour);
			body += text(x.to + 36, at + 4, "start", panel.lines[i].name);
		}
		top += kPanel + kGap;
	}
	for (double mark : xs)
		body += text(x.at(std::log(mark)), top - kGap + 18, "middle", number_text("%g", mark));
	body += text((x.from + x.to) / 2, top - kGap + 38, "middle", x_title);
	std::string width = number_text("%.0f", kWidth), height = number_text("%.0f", top - kGap + kFoot);
	return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
	       "\" viewBox=\"0 0 " + width + " " + height + "\" font-family=\"sans-serif\" font-size=\"12\">\n" +
	       "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
	       text(kLeft, 24, "start", title, " font-size=\"15\"") + body + "</svg>\n";
}

}  // namespace turnpike
