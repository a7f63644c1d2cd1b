// SPDX-License-Identifier: GPL-2.0
//
// A plot as SVG: panels below each other that share an axis of logarithms, and lines in them.
#ifndef TURNPIKE_TOOLS_ADVISE_SVG_PLOT_H
#define TURNPIKE_TOOLS_ADVISE_SVG_PLOT_H

#include <string>
#include <utility>
#include <vector>

namespace turnpike {

struct PlotLine {
	std::string name;
	std::vector<std::pair<double, double>> points;	// x above 0
	bool dashed = false;
};

struct PlotPanel {
	std::string title;
	std::vector<PlotLine> lines;
	bool zero = true;	// a line at 0, which the axis then has
};

// xs: where the axis has marks. A panel without a point is left out.
std::string svg_plot(const std::string &title, const std::string &x_title, const std::vector<double> &xs,
		     const std::vector<PlotPanel> &panels);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_SVG_PLOT_H
