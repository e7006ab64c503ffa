/* Axes: places values and ticks, and writes numbers and times as text. */
#include <math.h>
#include <stdio.h>
#include "draw.h"
#include "base/base.h"

double hd_axis_at(const struct hd_axis *axis, double value)
{
	double share = axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
	                                 : (value - axis->low) / (axis->high - axis->low);
	return axis->from + share * (axis->to - axis->from);
}

/* The least number that is 1, 2 or 5 times a power of ten and not below `least`. */
static double round_step(double least)
{
	double ten = pow(10, floor(log10(least)));
	double digit = least / ten;
	return (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * ten;
}

/* Puts ticks at all powers of ten and, if there is room, at 2 and 5 times these; if there is little room, only at every
 * second, third or further power. */
static size_t logarithmic_ticks(const struct hd_axis *axis, double gap, double *ticks, size_t max)
{
	double decades = log10(axis->high / axis->low), length = fabs(axis->to - axis->from);
	if (!(length > 0) || !(axis->low > 0) || !isfinite(decades))
		return 0;
	/* at most one tick per `gap` points; at most 1000, so that `every` is an int on an axis of almost no length */
	int every = (int)fmin(fmax(ceil(gap * decades / length), 1), 1000), between = length > 3 * gap * decades;
	size_t n = 0;
	for (int e = (int)floor(log10(axis->low)); e <= (int)ceil(log10(axis->high)); e++) {
		static const double factors[] = {1, 2, 5};
		for (int k = 0; k < (between ? 3 : 1); k++) {
			double tick = factors[k] * pow(10, e);
			if (e % every == 0 && tick >= axis->low * (1 - 1e-9) && tick <= axis->high * (1 + 1e-9) &&
			    n < max)
				ticks[n++] = tick;
		}
	}
	return n;
}

size_t hd_axis_ticks(const struct hd_axis *axis, double gap, double *ticks, size_t max)
{
	if (axis->logarithmic)
		return logarithmic_ticks(axis, gap, ticks, max);
	double span = axis->high - axis->low;
	double step = round_step(span * gap / fabs(axis->to - axis->from)), first = ceil(axis->low / step - 1e-9);
	size_t n = 0;
	for (; n < max && (first + (double)n) * step <= axis->high + 1e-9 * span; n++)
		ticks[n] = (first + (double)n) * step + 0.0; /* + 0.0: -0 becomes 0 */
	return n;
}

void hd_number_label(char label[HD_LABEL], double value)
{
	static const struct {
		double factor;
		const char *suffix;
	} scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
	double size = fabs(value);
	for (size_t i = 0; i < 4; i++) {
		if (size >= scales[i].factor * 0.99999 && size < 1e16) {
			hd_print_into(label, HD_LABEL, "%.6g%s", value / scales[i].factor, scales[i].suffix);
			return;
		}
	}
	hd_print_into(label, HD_LABEL, "%.6g", value);
}

struct hd_unit hd_unit_of(double us)
{
	if (us >= 1e6)
		return (struct hd_unit){"s", 1e6};
	return us >= 1e3 ? (struct hd_unit){"ms", 1e3} : (struct hd_unit){"us", 1};
}

void hd_time_label(char label[HD_LABEL], double us)
{
	struct hd_unit unit = hd_unit_of(us);
	hd_print_into(label, HD_LABEL, us / unit.us >= 1000 ? "%.0f %s" : "%.4g %s", us / unit.us, unit.name);
}
