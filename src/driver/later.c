/* Keeps the calls that a kernel has asked for after the end of its work, and makes them: later.h. */
#include "driver/later.h"
#include <stdlib.h>
#include "base/base.h"

int hd_later_add(struct hd_later **list, void (*f)(void *arg, int result), void *arg)
{
	struct hd_later *later = malloc(sizeof *later);
	if (!later)
		return hd_no_memory("a call after the end of a kernel");
	*later = (struct hd_later){.f = f, .arg = arg};
	while (*list)
		list = &(*list)->next;
	*list = later;
	return 0;
}

void hd_later_call(struct hd_later **list, int result)
{
	if (!*list)
		return;
	struct hd_sentence kept;
	hd_error_keep(&kept);
	for (struct hd_later *later; (later = *list);) {
		*list = later->next;
		later->f(later->arg, result);
		free(later);
	}
	hd_error_give_back(&kept);
}
