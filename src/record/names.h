/* Tables of the names that the program has given to tasks and data: names.c. */
#ifndef HD_RECORD_NAMES_H
#define HD_RECORD_NAMES_H

#include <heddle/trace.h>

/* Appends a copy of the first `length` bytes of `name`. The table must have been made by this function alone, because
 * its capacity follows from its length. Does not keep the table sorted: call hd_name_table_sort, which sorts by number,
 * before names are looked up. HEDDLE_E_MEMORY. */
int hd_name_table_add(struct heddle_names *names, uint64_t id, const char *name, size_t length);
void hd_name_table_sort(struct heddle_names *names);
void hd_name_table_free(struct heddle_names *names);
/* What is wrong with entry i of a table, as the rest of a sentence; NULL: nothing. */
const char *hd_name_table_problem(const struct heddle_names *names, size_t i);

#endif
