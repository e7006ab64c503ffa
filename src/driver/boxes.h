/* Strided copies as boxes: rows of bytes, whose beginnings are equally far apart, and planes of rows, a whole number of
 * rows apart. Devices copy such boxes by one call. A part is seen as bytes that lie side by side on both sides of the
 * copy, the row, and directions in which this repeats; the directions that a box cannot have are loops. */
#ifndef HD_DRIVER_BOXES_H
#define HD_DRIVER_BOXES_H

#include <heddle/driver.h>

/* A direction: n times, so many bytes apart on each side. */
struct hd_direction {
	size_t n, from, to;
};

/* The first `n_box` directions (0: none; 1: rows; 2: rows and planes) belong to the box, the others are loops. */
struct hd_boxes {
	size_t row; /* bytes; 0: nothing is to be copied */
	unsigned n, n_box;
	struct hd_direction directions[HEDDLE_MAX_DIMS];
};

/* `most_pitch`: how many bytes apart the rows of a box may be; 0: boxes are single rows. */
void hd_boxes_plan(struct hd_boxes *boxes, const struct heddle_copy *copy, size_t most_pitch);
/* Calls `put` for each box, with the bytes from the base of each side to the box. Returns the first status that is not
 * 0, after which no more boxes are put. */
int hd_boxes_put(const struct hd_boxes *boxes,
                 int (*put)(void *arg, const struct hd_boxes *boxes, size_t from, size_t to), void *arg);
/* How many rows it is from one plane of a box to the next, if that are `plane` bytes, and `pitch` bytes from one row to
 * the next. Planes that the box lacks follow on each other. */
static inline size_t hd_boxes_rows(const struct hd_boxes *boxes, size_t plane, size_t pitch)
{
	return boxes->n_box == 2 ? plane / pitch : boxes->directions[0].n;
}

#endif
