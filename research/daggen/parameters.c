/* The parameters of random graphs, looked up by name: see random.h. */
#include <heddle/daggen/random.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

#define ROW(field, value, min, max, whole, help)                                                   \
	{                                                                                          \
#field, offsetof(struct heddle_daggen_layers, field), value, min, max, whole, help \
	}
static const struct heddle_daggen_parameter rows[] = {
    ROW(n, 100, 1, 1e8, 1, "tasks"),
    ROW(fat, 0.5, 0, 1, 0, "n^fat tasks per level; 0: a chain, 1: almost no dependencies"),
    ROW(density, 0.5, 0, 1, 0, "predecessors, as a share of the level before"),
    ROW(regularity, 0.9, 0, 1, 0, "how alike the widths of levels are"),
    ROW(jump, 1, 1, 1e6, 1, "levels that an edge may span"),
    ROW(ccr, 0, 0, 1e6, 0, "communication / computation on cpus, to which data are scaled; 0: no scaling"),
    ROW(seed, 0, 0, 9007199254740992.0, 1, "seed of everything random"),
    ROW(work, 0, 0, 3, 1, "kind of each task; 1: scan, 2: sort, 3: multiply, 0: any of them"),
    ROW(min_data, 65536, 1, 1e12, 0, "elements of 8 bytes per task, at least"),
    ROW(max_data, 1048576, 1, 1e12, 0, "elements of 8 bytes per task, at most"),
    ROW(min_factor, 64, 1e-6, 1e12, 0, "operations per element, at least"),
    ROW(max_factor, 512, 1e-6, 1e12, 0, "operations per element, at most"),
    ROW(gflops, 1, 1e-6, 1e9, 0, "speed of a cpu, Gflop/s"),
    ROW(min_speedup, 0.5, 1e-6, 1e6, 0, "speed-up of cuda over a cpu, at least"),
    ROW(max_speedup, 30, 1e-6, 1e6, 0, "speed-up of cuda over a cpu, at most"),
    ROW(bandwidth, HEDDLE_MEMORY_BANDWIDTH, 1e-3, 1e9, 0, "bandwidth that ccr is computed with, MB/s"),
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const struct heddle_daggen_parameter *heddle_daggen_random_parameters(size_t *n)
{
	if (n)
		*n = N_ROWS;
	return rows;
}

static double *field(struct heddle_daggen_layers *p, size_t row)
{
	return (double *)(void *)((char *)p + rows[row].offset);
}

void heddle_daggen_random_init(struct heddle_daggen_layers *p)
{
	for (size_t i = 0; p && i < N_ROWS; i++)
		*field(p, i) = rows[i].value;
}

static int unknown(const char *name, size_t length)
{
	char all[256] = "";
	for (size_t i = 0; i < N_ROWS; i++) {
		strncat(all, i ? ", " : "", sizeof all - strlen(all) - 1);
		strncat(all, rows[i].name, sizeof all - strlen(all) - 1);
	}
	return heddle_error(HEDDLE_E_UNKNOWN, "random graphs have no parameter \"%.*s\"; they have %s", (int)length,
	                    name, all);
}

static int set_one(struct heddle_daggen_layers *p, const char *setting, size_t length)
{
	const char *equals = memchr(setting, '=', length);
	size_t name = equals ? (size_t)(equals - setting) : length, i = 0;
	while (i < N_ROWS && !(strlen(rows[i].name) == name && strncmp(rows[i].name, setting, name) == 0))
		i++;
	if (i == N_ROWS)
		return unknown(setting, name);
	char *after = NULL;
	double value = equals ? hd_real(equals + 1, &after) : NAN;
	if (!equals || after == equals + 1 || after != setting + length ||
	    !(value >= rows[i].min && value <= rows[i].max) || (rows[i].whole && value != floor(value)))
		return heddle_error(HEDDLE_E_INVALID, "\"%.*s\": %s is a %s from %g to %g", (int)length, setting,
		                    rows[i].name, rows[i].whole ? "whole number" : "number", rows[i].min, rows[i].max);
	*field(p, i) = value;
	return 0;
}

int heddle_daggen_random_set(struct heddle_daggen_layers *p, const char *settings)
{
	if (!p || !settings)
		return heddle_error(HEDDLE_E_INVALID, "parameters and their settings are needed");
	int status = 0;
	for (const char *at = settings; *at && !status;) {
		size_t length = strcspn(at, ",");
		status = set_one(p, at, length);
		at += length + (at[length] == ',');
	}
	return status;
}
