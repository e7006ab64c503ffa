/* Strided copies as boxes: see boxes.h. */
#include "boxes.h"

/* Adds a direction. A direction that only continues the row or the last direction is merged with it. */
static void add(struct hd_boxes *b, struct hd_direction d)
{
	struct hd_direction *last = b->n ? &b->directions[b->n - 1] : NULL;
	if (d.n == 1)
		return;
	if (!last && d.from == b->row && d.to == b->row)
		b->row *= d.n;
	else if (last && d.from == last->from * last->n && d.to == last->to * last->n)
		last->n *= d.n;
	else
		b->directions[b->n++] = d;
}

/* Whether the distance of planes, `plane` bytes, is a whole number of rows, and at least `height` rows; rows are
 * `pitch` bytes apart. */
static int are_planes(size_t plane, size_t pitch, size_t height)
{
	return plane % pitch == 0 && plane / pitch >= height;
}

void hd_boxes_plan(struct hd_boxes *b, const struct heddle_copy *copy, size_t most_pitch)
{
	const struct heddle_part *from = &copy->from, *to = &copy->to;
	size_t size = from->elem_size;
	*b = (struct hd_boxes){.row = size};
	for (unsigned d = 0; d < from->n_dims; d++) {
		if (from->n[d] == 0)
			b->row = 0;
		add(b, (struct hd_direction){from->n[d], from->stride[d] * size, to->stride[d] * size});
	}
	const struct hd_direction *rows = &b->directions[0], *planes = &b->directions[1];
	if (b->n > 0 && rows->from >= b->row && rows->from <= most_pitch && rows->to >= b->row &&
	    rows->to <= most_pitch)
		b->n_box = 1;
	if (b->n_box && b->n > 1 && are_planes(planes->from, rows->from, rows->n) &&
	    are_planes(planes->to, rows->to, rows->n))
		b->n_box = 2;
}

int hd_boxes_put(const struct hd_boxes *b, int (*put)(void *arg, const struct hd_boxes *boxes, size_t from, size_t to),
                 void *arg)
{
	size_t i[HEDDLE_MAX_DIMS] = {0};
	while (b->row) {
		size_t from = 0, to = 0;
		for (unsigned d = b->n_box; d < b->n; d++) {
			from += i[d] * b->directions[d].from;
			to += i[d] * b->directions[d].to;
		}
		int status = put(arg, b, from, to);
		if (status)
			return status;
		unsigned d = b->n_box;
		while (d < b->n && ++i[d] == b->directions[d].n)
			i[d++] = 0;
		if (d >= b->n)
			break;
	}
	return 0;
}
