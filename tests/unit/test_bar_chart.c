/* src/plot/bars.c: where the markers of a chart of bars lie, read back as pixels. */
#include "scratch.h"
#include <cairo.h>
#include <math.h>
#include "plot/draw.h"

enum { MARKERS = 3, COLOR = 0xcc0066 };

/* Pixels of the markers' colour, row by row of the picture, form bands: one of the legend, then one of each marker.
 * Sets the mean place of those of each band; returns how many bands there are. */
static size_t find_bands(const char *path, double *mean, size_t max)
{
	cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
	assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
	const unsigned char *data = cairo_image_surface_get_data(surface);
	int stride = cairo_image_surface_get_stride(surface), width = cairo_image_surface_get_width(surface);
	double sum = 0, count = 0;
	size_t n = 0;
	for (int y = 0; y < cairo_image_surface_get_height(surface); y++) {
		double before = count;
		for (int x = 0; x < width; x++) {
			uint32_t pixel;
			memcpy(&pixel, data + y * stride + 4 * x, sizeof pixel);
			sum += (pixel & 0xffffff) == COLOR ? x : 0;
			count += (pixel & 0xffffff) == COLOR;
		}
		if (count > 0 && count == before) { /* the first row below a band */
			assert_true(n < max);
			mean[n++] = sum / count;
			sum = count = 0;
		}
	}
	cairo_surface_destroy(surface);
	return n;
}

/* The last marker is far beyond the bars: the axis reaches to it. */
static void markers_lie_where_their_values_are(void **state)
{
	(void)state;
	const struct hd_bar bars[MARKERS] = {
	    {"first", 1, NAN, NAN, 0}, {"second", 1, NAN, NAN, 1}, {"third", 1, NAN, NAN, 3}};
	const struct hd_bars chart = {.value_label = "ours",
	                              .marker_label = "theirs",
	                              .color = 0x336699,
	                              .marker_color = COLOR,
	                              .bars = bars,
	                              .n = MARKERS};
	double mean[1 + MARKERS];
	OK(hd_bars_draw(&chart, file("a.png")));
	assert_int_equal(find_bands(file("a.png"), mean, 1 + MARKERS), 1 + MARKERS);
	double unit = mean[2] - mean[1];
	assert_true(unit > 50 && fabs(mean[3] - mean[1] - 3 * unit) < 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(markers_lie_where_their_values_are),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
