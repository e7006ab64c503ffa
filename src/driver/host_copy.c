/* Copying between strided arrays in memory that the CPU can address. */
#include <string.h>
#include "boxes.h"
#include "driver.h"

static int put_row(void *arg, const struct hd_boxes *boxes, size_t from, size_t to)
{
	const struct heddle_copy *copy = arg;
	memcpy((char *)copy->to.base + to, (const char *)copy->from.base + from, boxes->row);
	return 0;
}

int hd_copy_host(const struct heddle_copy *copy)
{
	struct hd_boxes rows;
	hd_boxes_plan(&rows, copy, 0);
	return hd_boxes_put(&rows, put_row, (void *)copy);
}
