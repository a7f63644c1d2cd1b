// SPDX-License-Identifier: GPL-2.0
//
// How far two clocks are apart, and how fast they drift apart, by the stamps of probes between them. It is the widest
// strip of the plane (moment, receive stamp less transmit stamp) that probes there and probes back leave free.
//
//   receive less transmit
//     |    .  : .   .   :  .  :     there: offset + delay
//     |   . ___________:_______
//     |   ______________________    the strip; its middle is offset + drift * moment
//     |     '     '   :    '  :
//     |   :   ' :        '          back, with the sign turned: offset - delay
//     +----------------------------> moment
//
// Huygens has a support vector machine for it (ONRAMP21 section 3.3). With weights w of points, and m of them that may
// be within the strip, the machine's linear program is: over the slope a, and both edges u and l,
//   most of  u - 1/m sum w (u - there + a t)+  -  l - 1/m sum w (back - a t - l)+
// For one slope the best of it is the mean of the lowest mass m of the residuals there, less that of the highest mass m
// of those back. It is concave in the slope, and its slope is known: halving finds the best, exactly.
#ifndef TURNPIKE_TOOLS_CLOCKD_STRIP_FIT_H
#define TURNPIKE_TOOLS_CLOCKD_STRIP_FIT_H

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace turnpike {

// A probe: there, or back with the sign of apart_ns turned.
struct StripPoint {
	double at_ns;		// from the middle of the window
	double apart_ns;	// receive stamp less transmit stamp, from what all of them share
	double weight;		// 0 to 1: how sure it is that no other traffic was between the two of its pair
};

struct StripOptions {
	// What the slope is known to be, and by which it may be another. Clocks that run further apart than by 300 ppm
	// are broken: no crystal is. Where queues leave the earliest probes in one half of the window alone, the widest
	// strip is one that is tilted; what is known of the slope keeps it upright.
	double slope = 0;
	double slope_max = 3e-4;
	// Of the weight of a side that may be within the strip: stamps that are wrong do not move an edge by
	// themselves.
	double within = 0.005;
	// The least of it, in points.
	double within_points = 1;
	// Fewer on a side tell nothing.
	double least_weight = 8;
};

struct Strip {
	double offset_ns;	// in the middle of the window
	double slope;		// by which it grows
	double width_ns;	// the round trip without queues, as far as probes show it
	double sigma_ns;	// of the offset, by how thinly points lie at the edges
};

namespace strip {

// One edge at one slope: of the mass that may be within, and where it lies.
struct Edge {
	double mean_ns;
	double at_ns;
};

// The points of a side, those left out that cannot be at its edge any more.
class Side {
public:
	// sign: 1 for points there, -1 for those back, whose highest are wanted.
	Side(const std::vector<StripPoint> &points, double sign, const StripOptions &options) : sign_(sign)
	{
		for (const StripPoint &p : points) {
			left_.push_back({0, sign * p.apart_ns, p.at_ns, p.weight});
			weight_ += p.weight;
			reach_ns_ = std::max(reach_ns_, std::fabs(p.at_ns));
		}
		mass_ = std::max(options.within_points, options.within * weight_);
	}

	double weight() const { return weight_; }

	// band: by which the slope may still change, either way.
	Edge edge(double slope, double band)
	{
		order(slope);
		Sum sum = until(mass_);
		double most_ns = until(kThin * mass_).last_ns + 2 * band * reach_ns_;
		std::erase_if(left_, [most_ns](const Point &p) { return p.residual_ns > most_ns; });
		return {sign_ * sum.residual_ns, sum.at_ns};
	}

	// Where the strip's edge is: as much as may be within it is beyond.
	double border_ns(double slope)
	{
		order(slope);
		return sign_ * until(mass_).last_ns;
	}

	// How thin the points lie there.
	double thin_ns(double slope)
	{
		order(slope);
		return until(kThin * mass_).last_ns - until(mass_).last_ns;
	}

private:
	static constexpr double kThin = 4;

	struct Point {
		double residual_ns, apart_ns, at_ns, weight;
	};

	struct Sum {
		double residual_ns, at_ns, last_ns;
	};

	// As many of the lowest as are ever asked for come first, in order.
	void order(double slope)
	{
		for (Point &p : left_)
			p.residual_ns = p.apart_ns - sign_ * slope * p.at_ns;
		auto lower = [](const Point &one, const Point &other) { return one.residual_ns < other.residual_ns; };
		double sum = 0;
		for (auto from = left_.begin(); sum < kThin * mass_ && from != left_.end();) {
			auto to = from + std::min<std::ptrdiff_t>(16, left_.end() - from);
			std::partial_sort(from, to, left_.end(), lower);
			for (; from != to; ++from)
				sum += from->weight;
		}
	}

	// Means over the lowest of so much weight, the last of them in part.
	Sum until(double mass) const
	{
		Sum sum = {0, 0, 0};
		double left = mass;

		for (const Point &p : left_) {
			double part = std::min(left, p.weight);
			sum.residual_ns += part * p.residual_ns / mass;
			sum.at_ns += part * p.at_ns / mass;
			sum.last_ns = p.residual_ns;
			left -= part;
			if (left <= 0)
				break;
		}
		return sum;
	}

	double sign_;
	std::vector<Point> left_;
	double weight_ = 0, mass_ = 0, reach_ns_ = 0;
};

}  // namespace strip

// Nothing if a side has too few points, or if the strip has no width: no line is the clocks' then, as when one of them
// is set within the window.
inline std::optional<Strip> strip_fit(const std::vector<StripPoint> &there, const std::vector<StripPoint> &back,
				      const StripOptions &options = {})
{
	strip::Side above(there, 1, options), below(back, -1, options);
	double slope = options.slope;

	if (std::min(above.weight(), below.weight()) < options.least_weight)
		return std::nullopt;
	// to a nanosecond in ten thousand seconds
	for (double band = options.slope_max; band > 1e-13; band /= 2) {
		// the strip grows with the slope where its upper edge lies before its lower one
		bool more = below.edge(slope, band).at_ns > above.edge(slope, band).at_ns;
		slope += more ? band / 2 : -band / 2;
	}
	double upper_ns = above.border_ns(slope), lower_ns = below.border_ns(slope);
	if (upper_ns <= lower_ns)
		return std::nullopt;
	return Strip{(upper_ns + lower_ns) / 2, slope, upper_ns - lower_ns,
		     std::hypot(above.thin_ns(slope), below.thin_ns(slope)) / 2};
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_STRIP_FIT_H
