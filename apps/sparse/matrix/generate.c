/* Matrices by their names: finds the family of a name and the numbers in it. */
#include "families.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"

enum { MOST_NUMBERS = 6 };

/* A name is the pattern with a number for each '#'; from `n_least` numbers on, the rest may be left out. */
static const struct family {
	const char *pattern;
	int n_least;
	uint64_t least[MOST_NUMBERS], most[MOST_NUMBERS];
	int (*make)(const uint64_t *numbers, struct hd_sparse_made *out);
} families[] = {
    {"TF#", 1, {3}, {18}, hd_sparse_forests},
    {"mk#-b#", 2, {2, 0}, {15, 6}, hd_sparse_matchings},
    {"flower_#_#", 2, {3, 1}, {10, 7}, hd_sparse_flower},
    {"cat_ears_#_#", 2, {2, 1}, {6, 7}, hd_sparse_cat_ears},
    {"grid2d:#", 1, {1}, {10000}, hd_sparse_grid2d},
    {"grid3d:#", 1, {1}, {400}, hd_sparse_grid3d},
    {"random:#,#,#,#,#,#", 4, {0}, {1 << 30, 1 << 30, 1 << 20, UINT64_MAX, 1 << 30, 300}, hd_sparse_scattered},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

/* Reads the number at *at, and moves *at behind the number. */
static int take_number(const char **at, uint64_t *out)
{
	const char *begin = *at;
	*out = 0;
	for (; **at >= '0' && **at <= '9' && *at - begin < 18; ++*at)
		*out = 10 * *out + (uint64_t)(**at - '0');
	return *at > begin;
}

/* Whether the name is one of the family. */
static int matches(const struct family *family, const char *name, uint64_t *numbers)
{
	int n = 0;
	memset(numbers, 0, MOST_NUMBERS * sizeof *numbers);
	for (const char *p = family->pattern; *p; p++) {
		if (!*name && n >= family->n_least && *p == ',')
			return 1;
		if (*p == '#') {
			if (!take_number(&name, &numbers[n++]))
				return 0;
		} else if (*p != *name++) {
			return 0;
		}
	}
	return !*name;
}

static int check_numbers(const struct family *family, const char *name, const uint64_t *numbers)
{
	for (int i = 0; i < MOST_NUMBERS; i++)
		if (numbers[i] < family->least[i] || numbers[i] > family->most[i])
			return heddle_error(
			    HEDDLE_E_UNKNOWN,
			    "matrix \"%s\": number %d is %llu, and may be %llu to %llu in the family %s", name, i + 1,
			    (unsigned long long)numbers[i], (unsigned long long)family->least[i],
			    (unsigned long long)family->most[i], family->pattern);
	return 0;
}

static int unknown(const char *name)
{
	char list[512];
	size_t length = 0;
	for (size_t i = 0; i < N_FAMILIES; i++)
		length +=
		    (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", families[i].pattern);
	return heddle_error(HEDDLE_E_UNKNOWN, "there is no matrix \"%s\"; the families, with a number for each #: %s",
	                    name, list);
}

int heddle_sparse_generate(const char *name, struct heddle_sparse_matrix *out)
{
	uint64_t numbers[MOST_NUMBERS];
	size_t i = 0;
	if (!name || !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_generate needs a name and a place for its result");
	while (i < N_FAMILIES && !matches(&families[i], name, numbers))
		i++;
	if (i == N_FAMILIES)
		return unknown(name);
	int status = check_numbers(&families[i], name, numbers);
	if (status)
		return status;
	struct hd_sparse_made made = {.triplets.components = 1};
	status = families[i].make(numbers, &made);
	if (!status)
		status = hd_sparse_triplets_finish(&made.triplets, made.rows, made.columns, out);
	hd_sparse_triplets_free(&made.triplets);
	return status;
}

int hd_sparse_load(const char *what, struct heddle_sparse_matrix *out)
{
	size_t length = strlen(what);
	int is_file = access(what, F_OK) == 0 || (length > 4 && strcmp(what + length - 4, ".mtx") == 0);
	return is_file ? heddle_sparse_read(what, out) : heddle_sparse_generate(what, out);
}
