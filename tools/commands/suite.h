/* Declarations for the files of `heddle suite`. */
#ifndef HD_COMMANDS_SUITE_H
#define HD_COMMANDS_SUITE_H

#include "shared/campaign.h"

/* A machine of the list: a platform, perhaps changed. */
struct suite_machine {
	char *name;
	struct heddle_platform *platform; /* owns; the machines of the list that no cell uses have none */
};

/* A graph on a machine. */
struct suite_cell {
	char *suite, *group, *machine, *word, *settings; /* owns; settings: "" or "expand=adaptive" */
};

/* The list of cells, as read. bench/cells/cells.txt says what may be in it. */
struct suite_list {
	struct suite_cell *cells; /* owns */
	size_t n;
	char *reference; /* owns; the policies with whose best others are compared; NULL: none */
	struct suite_machine *machines;
	size_t n_machines;
	char *folder; /* owns; the folder of the list, in which graphs are; ends in a slash, or is empty */
};

/* suite_list.c. Reads the cells of the suites and groups that `only` names (NULL: all), and opens their machines.
 * TOOL_OK, or a message that names the line and TOOL_USAGE or TOOL_FAILURE. The caller calls suite_list_free, even
 * after an error. */
int suite_list_read(struct suite_list *list, const char *path, const char *only);
void suite_list_free(struct suite_list *list);
struct heddle_platform *suite_list_machine(const struct suite_list *list, const char *name);
/* The cell in words, by which files name it. The caller frees it. */
char *suite_cell_text(const struct suite_cell *cell);

/* The best of the reference in a cell. */
struct suite_best {
	double ms;    /* makespan; NAN: unknown */
	char *policy; /* owns; NULL: unknown */
};
/* suite_best.c: the file in which the best of each cell is kept, so that the reference need not run again. `key` says
 * what the figures depend on: a file with another key counts as empty. */

/* Fills best[i] for cell i where the file knows it. Returns the number of cells that it does not know. */
size_t suite_best_read(const char *path, const char *key, const struct suite_list *list, struct suite_best *best);
/* TOOL_OK, or a message and TOOL_FAILURE. */
int suite_best_write(const char *path, const char *key, const struct suite_list *list, const struct suite_best *best);

#endif
