/* Makes pictures in memory, which are written when they are complete; draws text, and chooses colours. */
#include "draw.h"
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/base.h"

#define PNG_SCALE 2.0
#define MAX_PIXELS 30000.0 /* of a side of a picture; cairo allows 32767 */

int hd_picture_of(const char *path, enum hd_picture *kind)
{
	static const char *const extensions[] = {[HD_PNG] = ".png", [HD_SVG] = ".svg", [HD_PDF] = ".pdf"};
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	for (int i = 0; i < 3 && dot; i++) {
		if (strcasecmp(dot, extensions[i]) == 0) {
			*kind = (enum hd_picture)i;
			return 0;
		}
	}
	return hd_error(HEDDLE_E_INVALID,
	                "cannot tell the kind of picture from the name %s: it must end in .png, .svg or .pdf", path);
}

static cairo_status_t append(void *closure, const unsigned char *data, unsigned length)
{
	struct hd_text *bytes = closure;
	hd_text_add(bytes, data, length);
	return bytes->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static int cairo_error(cairo_status_t status, const char *what)
{
	return hd_error(status == CAIRO_STATUS_NO_MEMORY ? HEDDLE_E_MEMORY : HEDDLE_E_UNSUPPORTED, "cannot draw %s: %s",
	                what, cairo_status_to_string(status));
}

/* Makes widths of text independent of the resolution, because a picture is laid out before it is opened. */
static void measure_exactly(cairo_t *cr)
{
	cairo_font_options_t *options = cairo_font_options_create();
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	cairo_set_font_options(cr, options);
	cairo_font_options_destroy(options);
}

cairo_t *hd_ruler(void)
{
	cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
	cairo_t *cr = cairo_create(surface);
	cairo_surface_destroy(surface);
	measure_exactly(cr);
	return cr;
}

int hd_canvas_open(struct hd_canvas *canvas, enum hd_picture kind, double width, double height)
{
	*canvas = (struct hd_canvas){.kind = kind, .width = width, .height = height, .scale = PNG_SCALE};
	double side = width > height ? width : height;
	if (side * canvas->scale > MAX_PIXELS)
		canvas->scale = MAX_PIXELS / side;
	if (kind == HD_SVG)
		canvas->surface = cairo_svg_surface_create_for_stream(append, &canvas->bytes, width, height);
	else if (kind == HD_PDF)
		canvas->surface = cairo_pdf_surface_create_for_stream(append, &canvas->bytes, width, height);
	else
		canvas->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * canvas->scale + 0.5),
		                                             (int)(height * canvas->scale + 0.5));
	canvas->cr = cairo_create(canvas->surface);
	if (cairo_status(canvas->cr) != CAIRO_STATUS_SUCCESS) {
		int status = cairo_error(cairo_status(canvas->cr), "a picture");
		hd_canvas_close(canvas, NULL);
		return status;
	}
	if (kind == HD_PNG)
		cairo_scale(canvas->cr, canvas->scale, canvas->scale);
	measure_exactly(canvas->cr);
	hd_color(canvas->cr, 0xffffff, 1);
	cairo_paint(canvas->cr);
	return 0;
}

int hd_canvas_close(struct hd_canvas *canvas, const char *path)
{
	cairo_status_t drawn = cairo_status(canvas->cr);
	cairo_destroy(canvas->cr);
	if (drawn == CAIRO_STATUS_SUCCESS && path && canvas->kind == HD_PNG)
		drawn = cairo_surface_write_to_png_stream(canvas->surface, append, &canvas->bytes);
	cairo_surface_finish(canvas->surface);
	if (drawn == CAIRO_STATUS_SUCCESS)
		drawn = cairo_surface_status(canvas->surface);
	cairo_surface_destroy(canvas->surface);
	int status = 0;
	if (path)
		status = drawn == CAIRO_STATUS_SUCCESS ? hd_text_write(&canvas->bytes, path) : cairo_error(drawn, path);
	hd_text_free(&canvas->bytes);
	return status;
}

void hd_color(cairo_t *cr, uint32_t rgb, double opacity)
{
	cairo_set_source_rgba(cr, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0, opacity);
}

uint32_t hd_color_on(uint32_t rgb)
{
	/* ITU-R BT.601, times 1000 */
	uint32_t brightness = 299 * (rgb >> 16 & 255) + 587 * (rgb >> 8 & 255) + 114 * (rgb & 255);
	return brightness > 140000 ? 0x000000 : 0xffffff;
}

/* cairo's "toy" text functions suffice for names and numbers; fontconfig finds a sans serif font everywhere. */
void hd_font(cairo_t *cr, double size, int bold)
{
	cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
	                       bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cr, size);
}

#define MAX_SHOWN 256 /* bytes of one text that is drawn */

static void make_valid(char to[MAX_SHOWN], const char *from)
{
	size_t used = 0;
	while (*from) {
		size_t n = hd_utf8_length(from);
		if (used + (n ? n : 1) >= MAX_SHOWN)
			break;
		if (n == 0 || (unsigned char)*from < 0x20)
			to[used++] = '?';
		else
			memcpy(to + used, from, n);
		used += n == 0 || (unsigned char)*from < 0x20 ? 0 : n;
		from += n ? n : 1;
	}
	to[used] = '\0';
}

static double valid_width(cairo_t *cr, const char *s)
{
	cairo_text_extents_t extents;
	cairo_text_extents(cr, s, &extents);
	return extents.x_advance;
}

double hd_text_width(cairo_t *cr, const char *s)
{
	char shown[MAX_SHOWN];
	make_valid(shown, s);
	return valid_width(cr, shown);
}

void hd_draw_text(cairo_t *cr, double x, double y, double align, double max_width, const char *s)
{
	char shown[MAX_SHOWN + 4];
	make_valid(shown, s);
	double width = valid_width(cr, shown);
	for (size_t length = strlen(shown); max_width > 0 && width > max_width && length > 0;) {
		do
			length--;
		while (length > 0 && ((unsigned char)shown[length] & 0xc0) == 0x80);
		memcpy(shown + length, "...", 4);
		width = valid_width(cr, shown);
	}
	cairo_font_extents_t font;
	cairo_font_extents(cr, &font);
	/* the baseline is below the middle by half the height of a capital letter */
	cairo_move_to(cr, x - align * width, y + font.ascent * 0.38);
	cairo_show_text(cr, shown);
}

void hd_line(cairo_t *cr, double x1, double y1, double x2, double y2)
{
	cairo_move_to(cr, x1, y1);
	cairo_line_to(cr, x2, y2);
	cairo_stroke(cr);
}
