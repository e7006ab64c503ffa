/* src/plot/heatmap.c: what is in the picture, read back as pixels. */
#include "scratch.h"
#include <cairo.h>
#include <math.h>
#include "plot/draw.h"

static const char *const names[] = {"first", "second", "third, with a longer name", "fourth"};

/* Pixels of a colour in a picture, and its size. */
static size_t count_pixels(const char *path, uint32_t rgb, int *width)
{
	cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
	assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
	const unsigned char *data = cairo_image_surface_get_data(surface);
	int stride = cairo_image_surface_get_stride(surface);
	*width = cairo_image_surface_get_width(surface);
	size_t n = 0;
	for (int y = 0; y < cairo_image_surface_get_height(surface); y++) {
		for (int x = 0; x < *width; x++) {
			uint32_t pixel;
			memcpy(&pixel, data + y * stride + 4 * x, sizeof pixel);
			n += (pixel & 0xffffff) == rgb;
		}
	}
	cairo_surface_destroy(surface);
	return n;
}

static size_t pixels_of(const struct hd_heatmap *map, uint32_t rgb)
{
	int width;
	OK(hd_heatmap_draw(map, file("a.png")));
	return count_pixels(file("a.png"), rgb, &width);
}

enum { BLUE = 0x2166ac, RED = 0xb2182b, PALE = 0xfddbc7, LIGHT = 0xffffd9, DARK = 0x0c2c84, GREY = 0xeeeeee };
enum { CELL = 4 * 22 * 22 / 2 }; /* more than half the pixels of a cell, text or not */

static void cells_have_the_colour_of_their_distance_from_the_reference(void **state)
{
	(void)state;
	const double values[] = {-2, 4, 2, 1};
	struct hd_heatmap map = {
	    .rows = names, .columns = names, .n_rows = 2, .n_columns = 2, .values = values, .reference = 1};
	assert_in_range(pixels_of(&map, BLUE), CELL, 2 * CELL);
	assert_in_range(pixels_of(&map, RED), CELL, 2 * CELL);
	assert_in_range(pixels_of(&map, PALE), CELL, 2 * CELL); /* a third of the way from 1 to 4 */
	map.reference = 3;                                      /* five below, one above: red is for five above */
	assert_in_range(pixels_of(&map, BLUE), CELL, 2 * CELL);
	assert_in_range(pixels_of(&map, RED), 0, CELL / 10);
	map.reference = NAN;
	assert_in_range(pixels_of(&map, LIGHT), CELL, 2 * CELL);
	assert_in_range(pixels_of(&map, DARK), CELL, 2 * CELL);
}

static void values_beyond_the_scale_have_the_colours_of_its_ends(void **state)
{
	(void)state;
	const double values[] = {-INFINITY, 0, 1, 5, INFINITY, 1e308};
	struct hd_heatmap map = {.rows = names,
	                         .columns = names,
	                         .n_rows = 2,
	                         .n_columns = 3,
	                         .values = values,
	                         .reference = NAN,
	                         .low = 0,
	                         .high = 1};
	assert_in_range(pixels_of(&map, LIGHT), 6 * CELL, 12 * CELL);
	assert_in_range(pixels_of(&map, DARK), 12 * CELL,
	                20 * CELL); /* the cells are wider: 1e308 is written in them */
}

static void cells_without_a_value_are_hatched(void **state)
{
	(void)state;
	const double values[] = {1, 2, 3, NAN, 1, 2};
	struct hd_heatmap map = {
	    .rows = names, .columns = names, .n_rows = 3, .n_columns = 2, .values = values, .reference = NAN};
	assert_in_range(pixels_of(&map, GREY), CELL / 2, 2 * CELL);
	map.n_rows = 1;
	assert_in_range(pixels_of(&map, GREY), 0, 50); /* the edges of black letters are grey, too */
}

/* Cells widen for their numbers, and do without when there are too many of them. */
static void numbers_are_written_when_they_fit(void **state)
{
	(void)state;
	enum { N = 400 };
	double *values = calloc(N * N, sizeof *values);
	const char **many = calloc(N, sizeof *many);
	for (size_t i = 0; i < N; i++)
		many[i] = names[i % 4];
	struct hd_heatmap map = {.title = "t",
	                         .label = "l",
	                         .rows = many,
	                         .columns = many,
	                         .n_rows = 1,
	                         .n_columns = 4,
	                         .values = values,
	                         .reference = NAN,
	                         .digits = 9};
	int wide, narrow, huge;
	OK(hd_heatmap_draw(&map, file("a.png")));
	size_t on_light = count_pixels(file("a.png"), 0, &wide);
	assert_true(on_light > 100); /* black digits; all else that is dark is not black */
	map.digits = 0;
	OK(hd_heatmap_draw(&map, file("a.png")));
	count_pixels(file("a.png"), 0, &narrow);
	assert_true(wide > narrow + 2 * 4 * 20);
	map.n_rows = map.n_columns = N;
	OK(hd_heatmap_draw(&map, file("a.png")));
	assert_int_equal(count_pixels(file("a.png"), 0, &huge), 0);
	assert_in_range(huge, 3200, 4200);
	free(values);
	free(many);
}

static void all_kinds_of_pictures_can_be_drawn(void **state)
{
	(void)state;
	static const char *const kinds[][2] = {{"a.png", "\x89PNG\r\n\x1a\n"}, {"a.pdf", "%PDF-"}, {"a.svg", "<?xml"}};
	const double same[] = {7, 7}, none[] = {NAN, NAN};
	for (size_t i = 0; i < 6; i++) {
		const double *values = i < 3 ? same : none; /* a scale without length, and none at all */
		struct hd_heatmap map = {.rows = names,
		                         .columns = names,
		                         .n_rows = 2,
		                         .n_columns = 1,
		                         .values = values,
		                         .reference = i % 2 ? 7 : NAN};
		size_t length;
		OK(hd_heatmap_draw(&map, file(kinds[i % 3][0])));
		char *data = contents(file(kinds[i % 3][0]), &length);
		assert_true(length > 300);
		assert_memory_equal(data, kinds[i % 3][1], strlen(kinds[i % 3][1]));
		assert_null(strstr(data, "nan"));
		free(data);
	}
}

static void equal_factors_look_alike_on_a_logarithmic_scale(void **state)
{
	(void)state;
	enum { MIDDLE = 0x41b6c4 };
	const double values[] = {1, 4, 16, -3};
	struct hd_heatmap map = {
	    .rows = names, .columns = names, .n_rows = 2, .n_columns = 2, .values = values, .reference = NAN};
	assert_in_range(pixels_of(&map, MIDDLE), 0, CELL / 10);
	map.logarithmic = 1;
	assert_in_range(pixels_of(&map, MIDDLE), CELL, 2 * CELL);
	assert_in_range(pixels_of(&map, LIGHT), 2 * CELL, 4 * CELL); /* of 1, and of what is not positive */
	assert_in_range(pixels_of(&map, DARK), CELL, 2 * CELL);
	map.reference = 4;
	assert_in_range(pixels_of(&map, RED), CELL, 2 * CELL);
	assert_in_range(pixels_of(&map, BLUE), 2 * CELL, 4 * CELL);
	map.reference = 0;
	assert_int_equal(hd_heatmap_draw(&map, file("a.png")), HEDDLE_E_INVALID);
}

static void the_least_of_each_row_is_framed(void **state)
{
	(void)state;
	const double values[] = {1, 2, NAN, 3.1, 2.9, 4}; /* without digits, two are equal in the second row */
	struct hd_heatmap map = {.rows = names,
	                         .columns = names,
	                         .n_rows = 2,
	                         .n_columns = 3,
	                         .values = values,
	                         .reference = NAN,
	                         .low = 0,
	                         .high = 1000};     /* all cells are light, so that frames and numbers are black */
	enum { FRAME = 4 * 2 * (2 * 18 + 2 * 14) }; /* 2 points wide, around at least 18 x 18 */
	size_t without = pixels_of(&map, 0x000000);
	map.mark_least = 1;
	assert_in_range(pixels_of(&map, 0x000000) - without, 3 * FRAME * 3 / 4, 6 * FRAME);
}

static void empty_map_or_unknown_kind_is_refused(void **state)
{
	(void)state;
	const double value = 1;
	struct hd_heatmap map = {
	    .rows = names, .columns = names, .n_rows = 1, .n_columns = 0, .values = &value, .reference = NAN};
	assert_int_equal(hd_heatmap_draw(&map, file("a.png")), HEDDLE_E_INVALID);
	map.n_columns = 1;
	assert_int_equal(hd_heatmap_draw(&map, file("a.gif")), HEDDLE_E_INVALID);
	OK(hd_heatmap_draw(&map, file("a.png")));
	assert_int_equal(hd_heatmap_draw(&map, file("a.png/x.svg")), HEDDLE_E_IO);
	map.reference = INFINITY;
	assert_int_equal(hd_heatmap_draw(&map, file("a.png")), HEDDLE_E_INVALID);
	map.reference = 0;
	map.digits = 10;
	assert_int_equal(hd_heatmap_draw(&map, file("a.png")), HEDDLE_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cells_have_the_colour_of_their_distance_from_the_reference),
	    cmocka_unit_test(equal_factors_look_alike_on_a_logarithmic_scale),
	    cmocka_unit_test(the_least_of_each_row_is_framed),
	    cmocka_unit_test(values_beyond_the_scale_have_the_colours_of_its_ends),
	    cmocka_unit_test(cells_without_a_value_are_hatched),
	    cmocka_unit_test(numbers_are_written_when_they_fit),
	    cmocka_unit_test(all_kinds_of_pictures_can_be_drawn),
	    cmocka_unit_test(empty_map_or_unknown_kind_is_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
