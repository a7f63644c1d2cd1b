# SPDX-License-Identifier: GPL-2.0
"""Histograms as vrack.ko reports them: [[lo_ns, hi_ns, count], ...]."""
import statistics


class Hist:
    def __init__(self, count=0, total=0.0, top=0, buckets=()):
        self.count = count
        self.total = total          # sum of all values, exact
        self.top = top
        self.buckets = sorted(tuple(bucket) for bucket in buckets if bucket[2])

    @classmethod
    def read(cls, data):
        if not data or not data.get("count"):
            return cls()
        return cls(data["count"], data["mean_ns"] * data["count"], data["max_ns"],
                   data.get("buckets", ()))

    @classmethod
    def merge(cls, hists):
        counts = {}
        for hist in hists:
            for low, high, count in hist.buckets:
                counts[low, high] = counts.get((low, high), 0) + count
        return cls(sum(hist.count for hist in hists), sum(hist.total for hist in hists),
                   max((hist.top for hist in hists), default=0),
                   [(low, high, count) for (low, high), count in counts.items()])

    def mean(self):
        return self.total / self.count if self.count else None

    def quantile(self, share):
        """The value below which that share lies, even within a bucket."""
        if not self.count:
            return None
        left = share * self.count
        for low, high, count in self.buckets:
            if left <= count:
                return min(low + (high - low) * max(left, 0) / count, self.top)
            left -= count
        return self.top

    def cdf(self):
        """[(value, share of all not above it)]."""
        points, below = [], 0
        for low, high, count in self.buckets:
            points.append((low, below / self.count))
            below += count
            points.append((min(high, self.top), below / self.count))
        return points

    def deviation(self):
        """Standard deviation, values even within their buckets."""
        if not self.count:
            return None
        mean = self.mean()
        return (sum(count * (((low + high) / 2 - mean) ** 2 + (high - low) ** 2 / 12)
                    for low, high, count in self.buckets) / self.count) ** 0.5

    def statistic(self, name):
        if name in ("avg", "mean"):
            return self.mean()
        if name == "sd":
            return self.deviation()
        if name == "max":
            return self.top if self.count else None
        return self.quantile(share_of(name))


def share_of(name):
    """p50 -> 0.5, p99 -> 0.99, p999 -> 0.999."""
    if not name.startswith("p") or not name[1:].isdigit():
        raise ValueError(f"'{name}' is no statistic (avg, max, p50, p99, p999, ...)")
    return int(name[1:]) / 10 ** len(name[1:])


def quantile(values, share):
    """Of plain samples, between neighbours in proportion."""
    values = sorted(values)
    if not values:
        return None
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def statistic(values, name):
    """avg, sd, max, min or a percentile of plain samples."""
    values = list(values)
    if not values:
        return None
    if name in ("avg", "mean"):
        return sum(values) / len(values)
    if name == "sd":
        return statistics.pstdev(values)
    if name in ("max", "min"):
        return max(values) if name == "max" else min(values)
    return quantile(values, share_of(name))
