/* The table of all settings. Environment variables, configuration file, `heddle config` and the manual follow from
 * it. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <heddle/settings.h>
#include "start.h"
#include "base/base.h"
#include "start/environment.h"

/* SWITCH: the value is a bool or a text; a text also sets the bool to 1 and is stored in a second field. */
enum kind { INT, BOOL, BYTES, SEED, DOUBLE, TEXT, SWITCH };
static const char *const kind_names[] = {"int", "bool", "bytes", "int", "double", "text", "bool or text"};

struct row {
	struct heddle_setting setting;
	enum kind kind;
	size_t offset;
	double min, max;
	size_t text; /* of SWITCH: offset of the field that holds the text */
};

#define ROW_AT(name, field, env, k, def, unit, lo, hi, range, help)                                                    \
	{                                                                                                              \
		{name, "HEDDLE_" env, NULL, def, unit, range, help}, k, offsetof(struct heddle_config, field), lo, hi, \
		    0                                                                                                  \
	}
#define ROW(field, ...) ROW_AT(#field, field, __VA_ARGS__)
#define VIRTUAL_ROW(field, ...) ROW_AT(#field, virtual_time.field, __VA_ARGS__)

/* The text of the switch X is in the field X_file, for example the text of `trace` in trace_file. */
#define SWITCH_ROW(field, env, words, help)                                                                            \
	{                                                                                                              \
		{#field, "HEDDLE_" env, NULL, "0", "", words, help}, SWITCH, offsetof(struct heddle_config, field), 0, \
		    1, offsetof(struct heddle_config, field##_file)                                                    \
	}

static const struct row rows[] = {
    ROW(n_cpu, "NCPU", INT, "-1", "workers", -1, 1e6, "-1 to the number of cores",
        "CPU workers, each on a core of its own; -1: one per core, less one for each CUDA or OpenCL device"),
    ROW(clusters, "CLUSTERS", TEXT, "", "", 0, 0,
        "empty (as the platform says), none, socket, numa, l3, CORES, 2x10, 1x10+10x1, or FILE; several with commas "
        "between them; adaptive: they change while tasks run; auto: Heddle chooses",
        "cluster sets: groups of cores that run parallel tasks, as one worker each: docs/clusters.md"),
    ROW(n_cuda, "CUDA", INT, "-1", "devices", -1, 1e4, "-1 to the number of devices",
        "CUDA devices; -1: all, and none where there is no CUDA driver"),
    ROW(cuda_streams, "CUDA_STREAMS", INT, "2", "kernels", 1, 1000, "1 to 1000",
        "kernels that each of them may run at the same time"),
    ROW(cuda_memory, "CUDA_MEMORY", BYTES, "0", "bytes", 0, 1e18,
        "0 (nine tenths of what there is) to 1e18; K, M, G allowed", "memory of each that data may take"),
    ROW(n_opencl, "OPENCL", INT, "0", "devices", -1, 1e4, "-1 to the number of devices",
        "OpenCL devices; -1: all that are not used by CUDA"),
    ROW(opencl_devices, "OPENCL_DEVICES", TEXT, "all", "", 0, 0,
        "all, gpu, cpu, accelerator, or a part of a device's or a platform's name", "which devices n_opencl counts"),
    ROW(opencl_streams, "OPENCL_STREAMS", INT, "2", "kernels", 1, 1000, "1 to 1000",
        "kernels that each of them may run at the same time"),
    ROW(opencl_memory, "OPENCL_MEMORY", BYTES, "0", "bytes", 0, 1e18,
        "0 (nine tenths of what there is) to 1e18; K, M, G allowed", "memory of each that data may take"),
    ROW(n_emulated, "EMULATED", INT, "0", "devices", 0, 1e4, "0 to 10000",
        "emulated accelerators: threads with a memory node of their own"),
    ROW(emulated_streams, "EMULATED_STREAMS", INT, "1", "kernels", 1, 1000, "1 to 1000",
        "kernels that each of them may run at the same time"),
    ROW(emulated_memory, "EMULATED_MEMORY", BYTES, "0", "bytes", 0, 1e18, "0 (no limit) to 1e18; K, M, G allowed",
        "memory of each emulated accelerator"),
    ROW(emulated_bandwidth, "EMULATED_BANDWIDTH", DOUBLE, "0", "MB/s", 0, 1e9, "0 (as fast as memory) to 1e9",
        "bandwidth of its links"),
    ROW(emulated_latency, "EMULATED_LATENCY", DOUBLE, "0", "us", 0, 1e9, "0 to 1e9", "latency of its links"),
    ROW(emulated_slowdown, "EMULATED_SLOWDOWN", DOUBLE, "1", "factor", 1, 1e6, "1 to 1e6",
        "kernels last this many times longer there"),
    ROW(sched, "SCHED", TEXT, "auto", "", 0, 0, "auto, or a name from `heddle policies`",
        "scheduling policy; auto: dmdas if the machine has several classes of workers, otherwise lws"),
    ROW(sched_options, "SCHED_OPTIONS", TEXT, "", "", 0, 0, "name=value,name=value",
        "options of the policy; `heddle policies NAME` lists them"),
    ROW(plugins, "PLUGINS", TEXT, "", "", 0, 0, "PATH:PATH",
        "shared libraries with policies, drivers and applications of one's own: docs/plugins.md"),
    ROW(devices, "DEVICES", TEXT, "all", "", 0, 0, "all, or KIND=N,KIND=N; -1: all of that kind",
        "how many devices of the kinds that plug-ins drive"),
    ROW(platform, "PLATFORM", TEXT, "", "", 0, 0, "a name from `heddle platforms`, or a file",
        "run in virtual time on this machine instead of for real"),
    ROW(window, "WINDOW", INT, "16384", "tasks", 0, 2e9, "0 (no limit) to 2000000000",
        "unfinished tasks beyond which submission waits; fewer while tasks take less than 2 us"),
    ROW(caller_works, "CALLER_WORKS", BOOL, "0", "", 0, 1, HD_BOOL_WORDS,
        "worker 0 has no thread of its own: the thread that waits runs its tasks"),
    ROW(bind, "BIND", BOOL, "1", "", 0, 1, HD_BOOL_WORDS, "bind worker threads to cores"),
    SWITCH_ROW(trace, "TRACE", HD_BOOL_WORDS ", or FILE,FILE in .trace, .json, .csv, .paje, .png, .svg, .pdf or .dot",
               "record events; with files, write them when the runtime stops"),
    ROW(record, "RECORD", TEXT, "", "", 0, 0, "FILE,FILE in .json or .dot",
        "write the graph of the tasks when the runtime stops"),
    SWITCH_ROW(
        explain, "EXPLAIN", HD_BOOL_WORDS ", or FILE",
        "write what workers, codelets, links and memories did when the runtime stops, to standard error or a file"),
    ROW(check, "CHECK", BOOL, "0", "", 0, 1, HD_BOOL_WORDS,
        "look for tasks that do what they have not declared, and for handles used after their end; slow"),
    ROW(time_core, "TIME_CORE", BOOL, "0", "", 0, 1, HD_BOOL_WORDS,
        "measure the time spent in the core of the runtime"),
    ROW(time_policy, "TIME_POLICY", BOOL, "0", "", 0, 1, HD_BOOL_WORDS,
        "measure the time spent in the scheduling policy"),
    ROW(calibrate, "CALIBRATE", INT, "10", "samples", 0, 1e6, "0 to 1000000",
        "samples per codelet, class and size before a model is trusted"),
    ROW(model_dir, "MODEL_DIR", TEXT, "", "", 0, 0, "a directory, or none",
        "where performance models are kept; empty: the XDG data directory, none: nowhere"),
    ROW(model_sizes, "MODEL_SIZES", INT, "10000", "sizes", 0, 2e9, "0 (all) to 2000000000",
        "sizes that the model of each codelet remembers; regressions keep what they learnt from the others"),
    ROW(seed, "SEED", SEED, "0", "", 0, 9.2e18, "0 to 9.2e18", "seed of all random numbers"),
    ROW(expand, "EXPAND", TEXT, "always", "", 0, 0, "always, never, class, adaptive",
        "whether hierarchical tasks are expanded, if their codelets do not decide"),
    VIRTUAL_ROW(noise, "NOISE", DOUBLE, "0", "", 0, 1, "0 to 1", "virtual time: relative deviation of execution times"),
    VIRTUAL_ROW(sched_cost, "SCHED_COST", DOUBLE, "0", "us", 0, 1e6, "0 to 1e6",
                "virtual time: duration of one scheduling decision"),
    VIRTUAL_ROW(expand_cost, "EXPAND_COST", DOUBLE, "0", "us", 0, 1e6, "0 to 1e6",
                "virtual time: how long a worker takes to expand a hierarchical task, without the submissions"),
    VIRTUAL_ROW(submit_cost, "SUBMIT_COST", DOUBLE, "0", "us", 0, 1e6, "0 to 1e6",
                "virtual time: how much longer an expansion takes for each task that it submits"),
    ROW(watchdog, "WATCHDOG", INT, "-1", "s", -1, 1e6, "-1 (after a minute and after ten), 0 (never) to 1000000",
        "a wait without progress for so long writes to standard error which tasks wait for what"),
    ROW(live, "LIVE", INT, "0", "port", 0, 65535, "0 (off) to 65535",
        "serve a page that shows the running program, at http://127.0.0.1:PORT/ (or the next free port), to this "
        "machine alone"),
    ROW(eviction, "EVICTION", TEXT, "next_use", "", 0, 0, "next_use, lru",
        "which copies leave a full memory: those needed last, or those used longest ago"),
    ROW(pipeline, "PIPELINE", INT, "0", "tasks", 0, 1000, "0 (as the platform says) to 1000",
        "tasks in flight per accelerator"),
    ROW(fastest_first, "FASTEST_FIRST", BOOL, "0", "", 0, 1, HD_BOOL_WORDS,
        "workers of the fastest class are asked first to take a ready task, not the one that has ended one"),
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static struct heddle_setting public_rows[N_ROWS]; /* a constructor fills it; constant afterwards */

__attribute__((constructor)) static void fill_public_rows(void)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		public_rows[i] = rows[i].setting;
		public_rows[i].kind = kind_names[rows[i].kind];
	}
}

const struct heddle_setting *heddle_settings(size_t *n)
{
	if (n)
		*n = N_ROWS;
	return public_rows;
}

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (strcmp(rows[i].setting.name, name) == 0)
			return &rows[i];
	return NULL;
}

/* The error for a name that is no setting. The message begins with `where`. */
static int unknown_setting(int status, const char *where, const char *name)
{
	const char *names[N_ROWS];
	for (size_t i = 0; i < N_ROWS; i++)
		names[i] = rows[i].setting.name;
	const char *near = hd_nearest(name, names, N_ROWS);
	return near ? hd_error(status, "%sthere is no setting \"%s\"; did you mean \"%s\"?", where, name, near)
	            : hd_error(status, "%sthere is no setting \"%s\"; `heddle config` lists them", where, name);
}

/* Reads a number; if `bytes` is 1, it may end in K, M, G or T (powers of 1024). Returns -1 if `text` is no number. */
static int parse_number(const char *text, int bytes, double *out)
{
	char *end;
	errno = 0;
	double value = hd_real(text, &end);
	if (end == text || errno || !isfinite(value))
		return -1;
	static const char units[] = "KMGT";
	const char *unit = bytes && *end ? strchr(units, hd_upper(*end)) : NULL;
	if (unit && *unit) {
		value *= pow(1024.0, (double)(unit - units + 1));
		end++;
		if (*end == 'i')
			end++;
		if (*end == 'B')
			end++;
	}
	while (isspace((unsigned char)*end))
		end++;
	*out = value;
	return *end ? -1 : 0;
}

/* For a message: what the value of the setting must be; the caller appends the range. */
static const char *expected(const struct row *row)
{
	if (row->kind == BOOL)
		return "one of";
	return row->kind == INT || row->kind == SEED ? "a whole number," : "a number,";
}

static int parse_value(const struct row *row, const char *text, double *out)
{
	if (row->kind == BOOL || row->kind == SWITCH) {
		*out = hd_bool_parse(text, strlen(text));
		return *out < 0 ? -1 : 0;
	}
	if (parse_number(text, row->kind == BYTES, out) || *out < row->min || *out > row->max)
		return -1;
	return (row->kind == INT || row->kind == SEED) && *out != floor(*out) ? -1 : 0;
}

static int set_row(const struct row *row, struct heddle_config *config, const char *text, const char *origin)
{
	void *field = (char *)config + row->offset;
	if (row->kind == TEXT) {
		*(const char **)field = text && *text ? text : row->setting.default_text;
		return 0;
	}
	double value;
	if (row->kind == SWITCH) {
		int is_word = *text == '\0' || !parse_value(row, text, &value);
		*(const char **)((char *)config + row->text) = is_word ? "" : text;
		*(int *)field = *text == '\0' ? 0 : is_word ? (int)value : 1;
		return 0;
	}
	if (parse_value(row, text, &value))
		return hd_error(HEDDLE_E_FORMAT, "%s is \"%s\": it must be %s %s", origin, text, expected(row),
		                row->setting.range);
	if (row->kind == INT || row->kind == BOOL)
		*(int *)field = (int)value;
	else if (row->kind == DOUBLE)
		*(double *)field = value;
	else
		*(uint64_t *)field = (uint64_t)value;
	return 0;
}

int heddle_setting_set(struct heddle_config *config, const char *name, const char *text)
{
	if (!config || !name || !text)
		return hd_error(HEDDLE_E_INVALID, "heddle_setting_set needs a configuration, a name and a text");
	const struct row *row = find_row(name);
	if (!row)
		return unknown_setting(HEDDLE_E_UNKNOWN, "", name);
	return set_row(row, config, text, name);
}

int heddle_setting_value(const struct heddle_config *config, const char *name, char *buffer, size_t size)
{
	if (!config || !name || !buffer)
		return hd_error(HEDDLE_E_INVALID, "heddle_setting_value needs a configuration, a name and a buffer");
	const struct row *row = find_row(name);
	if (!row)
		return unknown_setting(HEDDLE_E_UNKNOWN, "", name);
	const void *field = (const char *)config + row->offset;
	const char *text;
	switch (row->kind) {
	case INT:
	case BOOL: snprintf(buffer, size, "%d", *(const int *)field); break;
	case BYTES:
	case SEED: snprintf(buffer, size, "%llu", (unsigned long long)*(const uint64_t *)field); break;
	case DOUBLE: hd_print_into(buffer, size, "%g", *(const double *)field); break;
	case SWITCH:
		text = *(const char *const *)((const char *)config + row->text);
		if (text && *text)
			snprintf(buffer, size, "%s", text);
		else
			snprintf(buffer, size, "%d", *(const int *)field);
		break;
	case TEXT:
		text = *(const char *const *)field;
		snprintf(buffer, size, "%s", text ? text : "");
		break;
	}
	return 0;
}

/* Checks the ranges, because a program may have set the fields itself. Seeds have no range: every number is valid. */
int hd_config_check(const struct heddle_config *config)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];
		const char *field = (const char *)config + row->offset;
		double value;
		switch (row->kind) {
		case INT:
		case SWITCH:
		case BOOL: value = *(const int *)field; break;
		case BYTES: value = (double)*(const uint64_t *)field; break;
		case DOUBLE: value = *(const double *)field; break;
		default: continue;
		}
		if (!(value >= row->min && value <= row->max))
			return hd_error(HEDDLE_E_INVALID,
			                "%s is %.15g in struct heddle_config: it must be %s %s (heddle_config_init "
			                "gives every field a valid value)",
			                row->setting.name, value, row->kind == BOOL ? "0 or" : expected(row),
			                row->kind == BOOL ? "1" : row->setting.range);
	}
	return 0;
}

void heddle_config_file(char *buffer, size_t size)
{
	const char *path = hd_getenv("HEDDLE_CONFIG"), *xdg = hd_getenv("XDG_CONFIG_HOME"), *home = hd_getenv("HOME");
	if (!buffer)
		return;
	if (path)
		snprintf(buffer, size, "%s", path);
	else if (xdg && xdg[0] == '/')
		snprintf(buffer, size, "%s/heddle/config", xdg);
	else if (home && home[0])
		snprintf(buffer, size, "%s/.config/heddle/config", home);
	else
		snprintf(buffer, size, "%s", "");
	if (!path && buffer[0]) {
		FILE *f = fopen(buffer, "r");
		if (f)
			fclose(f);
		else
			buffer[0] = '\0';
	}
}

static char *trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	char *end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

/* Reads one line of the configuration file. The values of text settings then point into `line`. */
static int read_line(struct heddle_config *config, char *line, const char *path, int number)
{
	char *comment = strchr(line, '#');
	if (comment)
		*comment = '\0';
	char *name = trim(line);
	if (!*name)
		return 0;
	char *equals = strchr(name, '=');
	if (!equals)
		return hd_error(HEDDLE_E_FORMAT, "%s:%d: \"%s\" is not \"name = value\"", path, number, name);
	*equals = '\0';
	name = trim(name);
	char *value = trim(equals + 1);
	const struct row *row = find_row(name);
	char origin[600];
	snprintf(origin, sizeof origin, "%s:%d: ", path, number);
	if (!row)
		return unknown_setting(HEDDLE_E_FORMAT, origin, name);
	snprintf(origin, sizeof origin, "%s:%d: %s", path, number, name);
	return set_row(row, config, value, origin);
}

enum { MOST_BYTES = 1 << 20 }; /* a larger configuration file is refused */

static int read_file(struct heddle_config *config)
{
	char path[512];
	heddle_config_file(path, sizeof path);
	if (!path[0] || strcmp(path, "/dev/null") == 0) /* "/dev/null" is a usual way to say: no file */
		return 0;
	/* The contents of the file. The texts of the settings point into them, because struct heddle_config owns no
	 * texts. So the contents stay until the same thread reads the file again. */
	static _Thread_local char *contents; /* one per thread */
	free(contents);
	contents = NULL;
	size_t length;
	int status = hd_file_read_regular(path, MOST_BYTES, &contents, &length);
	char *line = contents;
	for (int number = 1; !status && line && *line; number++) {
		char *end = strchr(line, '\n');
		if (end)
			*end = '\0';
		status = read_line(config, line, path, number);
		line = end ? end + 1 : NULL;
	}
	return status;
}

/* Sets a setting from its environment variable, if that is set. */
static int read_variable(const struct row *row, struct heddle_config *config)
{
	const char *text = hd_getenv(row->setting.variable);
	return text && (*text || row->kind == TEXT) ? set_row(row, config, text, row->setting.variable) : 0;
}

int heddle_config_init(struct heddle_config *config)
{
	struct heddle_config c;
	if (!config)
		return hd_error(HEDDLE_E_INVALID, "heddle_config_init needs a struct heddle_config to fill");
	/* Plug-ins are loaded before this function reads the file: a plug-in that starts a runtime reads the file as
	 * well, and that frees the texts read before. */
	int plugged = hd_plugins_configured();
	memset(&c, 0, sizeof c);
	for (size_t i = 0; i < N_ROWS; i++)
		set_row(&rows[i], &c, rows[i].setting.default_text, rows[i].setting.name);
	int status = read_file(&c);
	for (size_t i = 0; !status && i < N_ROWS; i++)
		status = read_variable(&rows[i], &c);
	if (!status)
		/* without the policies of a failed plug-in, hd_environment_check() would refuse their variables */
		status = plugged;
	if (status)
		return status;
	*config = c;
	return hd_environment_check();
}

int hd_plugins_configured(void)
{
	struct heddle_config c = {.plugins = NULL};
	read_file(&c);
	read_variable(find_row("plugins"), &c);
	char *list = c.plugins ? strdup(c.plugins) : NULL;
	if (c.plugins && !list)
		return hd_no_memory("the list of plug-ins");
	int status = hd_plugins_load(list);
	free(list);
	return status;
}

/* The field of `config` that holds the text of a setting; NULL: the setting has no text. */
static const char **text_of(const struct row *row, struct heddle_config *config)
{
	return row->kind == TEXT     ? (const char **)((char *)config + row->offset)
	       : row->kind == SWITCH ? (const char **)((char *)config + row->text)
	                             : NULL;
}

int hd_config_own(struct heddle_config *config)
{
	int status = 0;
	for (size_t i = 0; i < N_ROWS; i++) {
		const char **text = text_of(&rows[i], config);
		if (!text || !*text)
			continue;
		*text = status ? NULL : strdup(*text);
		if (!status && !*text)
			status = hd_no_memory("settings");
	}
	return status;
}

void hd_config_disown(struct heddle_config *config)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		const char **text = text_of(&rows[i], config);
		if (text)
			free((char *)(uintptr_t)*text);
	}
}
