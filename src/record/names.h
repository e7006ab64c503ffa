/* Tables of the names that the program has given to tasks and data: names.c. */
#ifndef HD_NAMES_H
#define HD_NAMES_H

#include <heddle/trace.h>

/* hd_name_table_add appends a copy of the first `length` bytes of `name`, to a table that
 * was made by this function alone, because it relies on how the table has grown. It does not keep the table in order:
 * call hd_name_table_sort, which orders it by number, before names are looked up. HEDDLE_E_MEMORY. */
int hd_name_table_add(struct heddle_names *names, uint64_t id, const char *name, size_t length);
void hd_name_table_sort(struct heddle_names *names);
void hd_name_table_free(struct heddle_names *names);
/* What is wrong with name i of a table, as hd_trace_task_problem says it of a task; NULL: nothing. */
const char *hd_name_table_problem(const struct heddle_names *names, size_t i);

#endif
