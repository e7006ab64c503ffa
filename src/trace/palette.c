/* Chooses the colours of codelets. The palette is Okabe and Ito's ("Color Universal Design", 2008) without black, and
 * four colours of Tol's "muted" scheme. The name of a codelet chooses from it, so that the codelet has the same colour
 * in every trace, unless another codelet has taken a colour that looks alike. Codelets with the same name have the same
 * colour. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "trace/trace.h"

static const uint32_t palette[] = {0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442, 0x0072b2, 0xd55e00,
                                   0xcc79a7, 0x332288, 0x999933, 0x44aa99, 0xddcc77};
enum { N_PALETTE = sizeof palette / sizeof *palette };

#define FAR_ENOUGH 40000 /* in units of difference(); orange is nearer than this distance to vermillion and to yellow */

/* How different two colours look: the square of the "redmean" distance. */
static uint32_t difference(uint32_t a, uint32_t b)
{
	int32_t ar = a >> 16 & 255, br = b >> 16 & 255, mean = (ar + br) / 2, r = ar - br;
	int32_t green = (int32_t)(a >> 8 & 255) - (int32_t)(b >> 8 & 255),
	        blue = (int32_t)(a & 255) - (int32_t)(b & 255);
	return (uint32_t)(((512 + mean) * r * r >> 8) + 4 * green * green + ((767 - mean) * blue * blue >> 8));
}

/* The difference between a colour and the most similar colour that was given so far. */
static uint32_t nearest(uint32_t color, const uint32_t *colors, size_t n)
{
	uint32_t least = UINT32_MAX;
	for (size_t i = 0; i < n; i++)
		if (colors[i] && difference(color, colors[i]) < least)
			least = difference(color, colors[i]);
	return least;
}

/* The first entry of the palette, from the index to which the name hashes onwards, that is far enough from the colours
 * given so far; if there is none, the farthest entry. */
static uint32_t pick(const char *name, const uint32_t *colors, size_t n)
{
	uint32_t best = 0, farthest = 0;
	size_t first = hd_hash_string(name) % N_PALETTE;
	for (size_t k = 0; k < N_PALETTE && farthest < FAR_ENOUGH; k++) {
		uint32_t color = palette[(first + k) % N_PALETTE], distance = nearest(color, colors, n);
		if (!best || distance > farthest) {
			best = color;
			farthest = distance;
		}
	}
	return best;
}

/* The colour of the codelet with this name among the first n; 0: there is none. */
static uint32_t of_same_name(const struct heddle_trace *trace, const char *name, const uint32_t *colors, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (colors[i] && strcmp(trace->codelets[i].name, name) == 0)
			return colors[i];
	return 0;
}

uint32_t *hd_trace_colors(const struct heddle_trace *trace)
{
	uint32_t *colors = malloc((trace->n_codelets + 1) * sizeof *colors);
	if (!colors)
		return NULL;
	for (size_t i = 0; i < trace->n_codelets; i++)
		colors[i] = trace->codelets[i].color & 0xffffff;
	size_t n = trace->n_codelets < N_PALETTE ? trace->n_codelets
	                                         : N_PALETTE; /* colours of later codelets repeat earlier ones anyway */
	for (size_t i = 0; i < trace->n_codelets; i++) {
		const char *name = trace->codelets[i].name;
		if (!colors[i])
			colors[i] = of_same_name(trace, name, colors, n);
		if (!colors[i])
			colors[i] = i < n ? pick(name, colors, n) : palette[hd_hash_string(name) % N_PALETTE];
	}
	return colors;
}
