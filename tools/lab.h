/* What the files of `heddle lab` share. */
#ifndef TOOL_LAB_H
#define TOOL_LAB_H

#include <lab/lab.h>
#include "tool.h"

enum lab_table { LAB_EXPERIMENT, LAB_DATASET, LAB_SLOWDOWN, LAB_SUMMARY, LAB_TABLES };

/* lab_tables.c: the tables of the results. */
struct lab_tables {
	struct table all[LAB_TABLES];
	struct table_column *columns; /* owns; of the table of slowdowns, one per set */
	char **keys;                  /* owns; theirs */
	size_t n_keys;
};
void lab_tables_init(struct lab_tables *tables, const struct hd_lab_options *options, const struct hd_lab_results *results);
void lab_tables_free(struct lab_tables *tables);
/* dataset.csv, slowdown.csv, summary.csv and summary.svg in a directory: TOOL_OK, or a message and TOOL_FAILURE. */
int lab_write(const struct lab_tables *tables, const struct hd_lab_results *results, const char *directory);

#endif
