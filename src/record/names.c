/* Tables of names of tasks and data, searched by number. */
#include "names.h"
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

const char *heddle_name_of(const struct heddle_names *names, uint64_t id)
{
	if (!names)
		return NULL;
	size_t i = names->n ? hd_search(names->list, names->n, sizeof *names->list, id) : 0;
	return i < names->n && names->list[i].id == id ? names->list[i].name : NULL;
}

/* The capacity of a table is not stored: it is the next power of two, at least eight. */
static int make_room(struct heddle_names *names)
{
	enum { LEAST = 8 };
	size_t n = names->n;
	if (n & (n - 1) || (n && n < LEAST))
		return 0;
	struct heddle_name *larger = realloc(names->list, (n ? 2 * n : LEAST) * sizeof *larger);
	if (!larger)
		return HEDDLE_E_MEMORY;
	names->list = larger;
	return 0;
}

int hd_name_table_add(struct heddle_names *names, uint64_t id, const char *name, size_t length)
{
	char *copy = make_room(names) ? NULL : strndup(name, length);
	if (!copy)
		return hd_no_memory("a name");
	names->list[names->n++] = (struct heddle_name){id, copy};
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct heddle_name *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

void hd_name_table_sort(struct heddle_names *names)
{
	if (names->n)
		qsort(names->list, names->n, sizeof *names->list, by_number);
}

void hd_name_table_free(struct heddle_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i].name);
	free(names->list);
	*names = (struct heddle_names){.n = 0};
}

const char *hd_name_table_problem(const struct heddle_names *names, size_t i)
{
	if (!names->list[i].name)
		return "is NULL";
	return i > 0 && names->list[i].id <= names->list[i - 1].id ? "is out of order: names go by number, each once"
	                                                           : NULL;
}
