/* What the files of `heddle lab` share. */
#ifndef HD_COMMANDS_LAB_H
#define HD_COMMANDS_LAB_H

#include <lab/lab.h>
#include "shared/tool.h"

/* Fills what is 0 in `lab` with the paper's experiment, or with a small one; `sets` too, unless n_sets says that they
 * are given. */
void lab_complete(struct hd_lab_options *lab, unsigned sets[HD_LAB_SETS], int quick);
/* A bar on standard error, not too often; `last` is a double: us, when it was last shown. */
void lab_show_progress(void *last, const char *what, size_t done, size_t n_items);
/* The name of a heuristic; "best" for HD_HEURISTICS. */
const char *lab_heuristic_name(int h, char buffer[32]);

enum lab_table { LAB_EXPERIMENT, LAB_DATASET, LAB_SLOWDOWN, LAB_SUMMARY, LAB_TABLES };

/* lab_tables.c: the tables of the results. */
struct lab_tables {
	struct table all[LAB_TABLES];
	struct table_column *columns; /* owns; of the table of slowdowns, one per set */
	char **keys;                  /* owns; theirs */
	size_t n_keys;
};
void lab_tables_init(struct lab_tables *tables, const struct hd_lab_options *options,
                     const struct hd_lab_results *results);
void lab_tables_free(struct lab_tables *tables);
/* dataset.csv, slowdown.csv, summary.csv and summary.svg in a directory: TOOL_OK, or a message and TOOL_FAILURE. */
int lab_write(const struct lab_tables *tables, const struct hd_lab_results *results, const char *directory);

#endif
