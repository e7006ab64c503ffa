/* Reads a list of cells for `heddle suite`: see suite.h. */
#include "suite.h"
#include "repro/repro.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

/* Where the reader is. */
struct reading {
	struct suite_list *list;
	const char *path, *only;
	char *suite; /* owns; the suite to which cells belong now */
	size_t line;
};

static int complain(const struct reading *r, const char *what, const char *word)
{
	return tool_usage_error("%s, line %zu: %s: %s", r->path, r->line, word, what);
}

/* The next word of the line: NULL at its end. Ends the word with NUL. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t\r");
	size_t length = strcspn(word, " \t\r");
	*at = word + length + (word[length] != '\0');
	word[length] = '\0';
	return length ? word : NULL;
}

/* --- Machines ----------------------------------------------------------------------------------------------------- */

static void scale_links(struct heddle_platform *p, double factor)
{
	for (size_t i = 0; i < p->n_links; i++)
		p->links[i].bandwidth *= factor;
	for (size_t i = 0; i < p->n_buses; i++)
		p->buses[i].bandwidth *= factor;
}

static int change_machine(const struct reading *r, char *option, const char *base, struct heddle_platform **p)
{
	char *text = strchr(option, '='), *end = NULL;
	double value = text ? hd_real(text + 1, &end) : NAN;
	int good = text && end != text + 1 && !*end && value >= 0;
	if (good && strncmp(option, "accelerators=", 13) == 0 && value == floor(value)) {
		heddle_platform_free(*p);
		*p = NULL;
		return repro_machine(base, (size_t)value, 0, p);
	}
	if (!good || strncmp(option, "links=", 6) != 0 || value == 0)
		return complain(r, "it must be accelerators=N, which comes first, or links=FACTOR", option);
	scale_links(*p, value);
	return TOOL_OK;
}

static int add_machine(struct reading *r, char *at)
{
	struct suite_list *list = r->list;
	char *name = next_word(&at), *base = next_word(&at);
	if (!name || !base)
		return complain(r, "a machine has a name and a platform", "machine");
	list->machines = tool_realloc(list->machines, (list->n_machines + 1) * sizeof *list->machines);
	struct suite_machine *m = &list->machines[list->n_machines++];
	*m = (struct suite_machine){.name = tool_format("%s", name)};
	int status = tool_load_platform(base, &m->platform);
	for (char *option = next_word(&at); option && !status; option = next_word(&at))
		status = change_machine(r, option, base, &m->platform);
	if (!status) {
		free(m->platform->name);
		m->platform->name = tool_format("%s", name);
	}
	return status;
}

struct heddle_platform *suite_list_machine(const struct suite_list *list, const char *name)
{
	for (size_t i = 0; i < list->n_machines; i++)
		if (strcmp(list->machines[i].name, name) == 0)
			return list->machines[i].platform;
	return NULL;
}

/* --- Cells -------------------------------------------------------------------------------------------------------- */

/* Whether the list `only` has the word. */
static int has(const char *only, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = only; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, length) == 0 && (at[length] == ',' || !at[length]))
			return 1;
	}
	return 0;
}

static int add_cell(struct reading *r, const char *group, char *at)
{
	struct suite_list *list = r->list;
	char *machine = next_word(&at), *word = next_word(&at);
	if (!machine || !word)
		return complain(r, "a cell has a group, a machine and a graph", group);
	if (r->only && !has(r->only, group) && !has(r->only, r->suite))
		return TOOL_OK;
	if (!suite_list_machine(list, machine)) {
		char *itself = tool_format("%s %s", machine, machine);
		int status = add_machine(r, itself);
		free(itself);
		if (status)
			return status;
	}
	list->cells = tool_realloc(list->cells, (list->n + 1) * sizeof *list->cells);
	list->cells[list->n++] = (struct suite_cell){
	    .suite = tool_format("%s", r->suite),
	    .group = tool_format("%s", group),
	    .machine = tool_format("%s", machine),
	    .word = tool_format("%s", word),
	    .settings = tool_format("%s", at + strspn(at, " ")),
	};
	return TOOL_OK;
}

char *suite_cell_text(const struct suite_cell *cell)
{
	return tool_format("%s %s%s%s", cell->machine, cell->word, *cell->settings ? " " : "", cell->settings);
}

static int read_line(struct reading *r, char *at)
{
	at[strcspn(at, "#")] = '\0';
	char *word = next_word(&at);
	if (!word)
		return TOOL_OK;
	if (strcmp(word, "machine") == 0)
		return add_machine(r, at);
	if (strcmp(word, "suite") != 0 && strcmp(word, "reference") != 0)
		return add_cell(r, word, at);
	char **text = *word == 's' ? &r->suite : &r->list->reference, *value = next_word(&at);
	if (!value)
		return complain(r, "a word is missing behind it", word);
	free(*text);
	*text = tool_format("%s", value);
	return TOOL_OK;
}

int suite_list_read(struct suite_list *list, const char *path, const char *only)
{
	struct reading r = {.list = list, .path = path, .only = only, .suite = tool_format("all")};
	const char *slash = strrchr(path, '/');
	char *text = NULL;
	size_t length;
	*list = (struct suite_list){.folder = tool_format("%.*s", slash ? (int)(slash + 1 - path) : 0, path)};
	int status =
	    hd_file_read(path, &text, &length) ? tool_library_error("the list of cells cannot be read") : TOOL_OK;
	for (char *at = status ? NULL : text; at && !status;) {
		char *end = strchr(at, '\n');
		if (end)
			*end = '\0';
		r.line++;
		status = read_line(&r, at);
		at = end ? end + 1 : NULL;
	}
	if (!status && list->n == 0)
		status = tool_usage_error("%s has no cells%s%s", path, only ? " of " : "", only ? only : "");
	free(r.suite);
	free(text);
	return status;
}

void suite_list_free(struct suite_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct suite_cell *cell = &list->cells[i];
		char *texts[] = {cell->suite, cell->group, cell->machine, cell->word, cell->settings};
		for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
			free(texts[k]);
	}
	for (size_t i = 0; i < list->n_machines; i++) {
		free(list->machines[i].name);
		heddle_platform_free(list->machines[i].platform);
	}
	free(list->cells);
	free(list->machines);
	free(list->reference);
	free(list->folder);
}
