/* Strided copies as boxes, which devices copy by one call. A box is a row of bytes that are contiguous in both arrays,
 * perhaps repeated at equal distances (rows), and these rows perhaps repeated a whole number of rows apart (planes). A
 * copy is a row and the directions in which this row repeats; the directions that do not fit into a box become loops
 * over boxes. */
#ifndef HD_DRIVER_BOXES_H
#define HD_DRIVER_BOXES_H

#include <heddle/driver.h>

/* A direction of a copy: the row, with all earlier directions, is repeated n times, `from` bytes apart in the source
 * and `to` bytes apart in the destination. */
struct hd_direction {
	size_t n, from, to;
};

/* The first n_box directions (0: none; 1: rows; 2: rows and planes) belong to each box, the others are loops. */
struct hd_boxes {
	size_t row; /* length of a row in bytes; 0: nothing is to be copied */
	unsigned n, n_box;
	struct hd_direction directions[HEDDLE_MAX_DIMS];
};

/* Describes a copy as boxes. `most_pitch`: the most bytes between rows of a box; 0: each box is a single row. */
void hd_boxes_plan(struct hd_boxes *boxes, const struct heddle_copy *copy, size_t most_pitch);
/* Calls `put` for each box; `from` and `to` are the bytes from the beginning of the source, and of the destination, to
 * the box. Returns the first status that is not 0, after which no more boxes are put. */
int hd_boxes_put(const struct hd_boxes *boxes,
                 int (*put)(void *arg, const struct hd_boxes *boxes, size_t from, size_t to), void *arg);
/* How many rows lie between the beginnings of two planes of a box. `plane`: bytes from one plane to the next, `pitch`:
 * bytes from one row to the next, on one side of the copy. If the box has no planes: its number of rows. */
static inline size_t hd_boxes_rows(const struct hd_boxes *boxes, size_t plane, size_t pitch)
{
	return boxes->n_box == 2 ? plane / pitch : boxes->directions[0].n;
}

#endif
