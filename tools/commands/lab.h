/* Declarations for the files of `heddle lab`. */
#ifndef HD_COMMANDS_LAB_H
#define HD_COMMANDS_LAB_H

#include <lab/lab.h>
#include "shared/tool.h"

/* Replaces options of `lab` that are 0 by the options of the paper's experiment or, if `quick`, of a small experiment.
 * If lab->n_sets is 0, also fills `sets`. */
void lab_complete(struct hd_lab_options *lab, unsigned sets[HD_LAB_SETS], int quick);
/* Shows progress on standard error, unless it was shown a moment ago. */
struct lab_progress {        /* all 0 at first */
	double shown, begun; /* us: shown: when progress was last shown; begun: when this part of the work began */
	size_t done;
};
void lab_show_progress(void *progress, const char *what, size_t done, size_t n_items);
/* The name of a heuristic; "best" for HD_HEURISTICS. */
const char *lab_heuristic_name(int h, char buffer[32]);

enum lab_table { LAB_EXPERIMENT, LAB_DATASET, LAB_SLOWDOWN, LAB_SUMMARY, LAB_TABLES };

/* lab_tables.c: the tables of the results. */
struct lab_tables {
	struct table all[LAB_TABLES];
	struct table_column *columns; /* owns; the columns of the table of slowdowns, one per parameter set */
	char **keys;                  /* owns; the keys of these columns */
	size_t n_keys;
};
void lab_tables_init(struct lab_tables *tables, const struct hd_lab_options *options,
                     const struct hd_lab_results *results);
void lab_tables_free(struct lab_tables *tables);
/* Writes dataset.csv, slowdown.csv, summary.csv and summary.png: TOOL_OK, or a message and TOOL_FAILURE. */
int lab_write(const struct lab_tables *tables, const struct hd_lab_results *results, const char *directory);

#endif
