/* The file that keeps the best makespan of each cell for `heddle suite`: see suite.h. The first line is the key; each
 * other line has a makespan in ms, the policy that took it, and the cell in words. */
#include "suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/text.h"

/* Takes a line of the file, if it is about the cell. */
static int take(const char *line, size_t length, const char *cell, struct suite_best *best)
{
	char *end;
	double ms = hd_real(line, &end);
	const char *policy = end + (*end == ' ');
	size_t of_policy = strcspn(policy, " \n");
	const char *text = policy + of_policy + 1;
	if (end == line || policy[of_policy] != ' ' || strlen(cell) != (size_t)(line + length - text) ||
	    strncmp(text, cell, strlen(cell)) != 0)
		return 0;
	*best = (struct suite_best){ms, tool_format("%.*s", (int)of_policy, policy)};
	return 1;
}

static void find(const char *lines, const char *cell, struct suite_best *best)
{
	for (const char *at = lines; *at; at += (*at == '\n')) {
		size_t length = strcspn(at, "\n");
		if (take(at, length, cell, best))
			return;
		at += length;
	}
}

size_t suite_best_read(const char *path, const char *key, const struct suite_list *list, struct suite_best *best)
{
	char *text = NULL;
	size_t length, unknown = 0, of_key = strlen(key);
	int known =
	    path && hd_file_read(path, &text, &length) == 0 && strncmp(text, key, of_key) == 0 && text[of_key] == '\n';
	for (size_t i = 0; i < list->n; i++) {
		char *cell = suite_cell_text(&list->cells[i]);
		best[i] = (struct suite_best){.ms = NAN};
		if (known)
			find(text + of_key + 1, cell, &best[i]);
		unknown += isnan(best[i].ms) ? 1 : 0;
		free(cell);
	}
	free(text);
	return unknown;
}

int suite_best_write(const char *path, const char *key, const struct suite_list *list, const struct suite_best *best)
{
	struct hd_text text = {0};
	hd_text_format(&text, "%s\n", key);
	for (size_t i = 0; i < list->n; i++) {
		char *cell = suite_cell_text(&list->cells[i]);
		if (best[i].policy) {
			hd_text_real(&text, best[i].ms);
			hd_text_format(&text, " %s %s\n", best[i].policy, cell);
		}
		free(cell);
	}
	int status = hd_text_write(&text, path);
	hd_text_free(&text);
	return status ? tool_library_error("the best makespans were not written") : TOOL_OK;
}
