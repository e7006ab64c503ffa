/* The options that choose the workers on this machine: --ncpu, --cuda, --opencl, --emulated and their details. Each
 * option sets one setting, or the same setting of several kinds of accelerators. */
#include "tool.h"
#include <math.h>
#include <stdlib.h>

enum { KEY_MACHINE = 0xa000, KEY_CLUSTERS = 0xa100 };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which workers:", 4},
    {"ncpu", KEY_MACHINE, "P", 0, "CPU workers, at most one per core (default: one per core)", 0},
    {"cuda", KEY_MACHINE + 1, "K", 0, "CUDA devices (default: all)", 0},
    {"opencl", KEY_MACHINE + 2, "K", 0, "OpenCL devices; -1: all (default 0)", 0},
    {"emulated", KEY_MACHINE + 3, "K", 0, "Emulated accelerators: threads with a memory of their own (default 0)", 0},
    {"streams", KEY_MACHINE + 4, "S", 0,
     "Kernels that an accelerator may run at the same time (default 2; emulated: 1)", 0},
    {"memory", KEY_MACHINE + 5, "SIZE", 0,
     "Memory that data may take on each accelerator of whatever kind, such as 64M", 0},
    {"emulated-memory", KEY_MACHINE + 6, "SIZE", 0, "Memory of each emulated accelerator (default 0: no limit)", 0},
    {"emulated-bandwidth", KEY_MACHINE + 7, "MB/S", 0,
     "Bandwidth of links of emulated accelerators (default 0: as fast as copies in memory)", 0},
    {"emulated-latency", KEY_MACHINE + 8, "US", 0, "Latency of links of emulated accelerators", 0},
    {"emulated-slowdown", KEY_MACHINE + 9, "FACTOR", 0,
     "Kernels of emulated accelerators take FACTOR times as long (default 1)", 0},
    {0},
};

/* The type of the setting. */
enum type { INT, SIZE, REAL };
#define FIELD(name) offsetof(struct heddle_config, name)
static const struct target {
	enum type type;
	double min, max;
	size_t n, fields[3]; /* offsets in struct heddle_config */
} targets[TOOL_MACHINE_OPTIONS] = {
    {INT, -1, 100000, 1, {FIELD(n_cpu)}},
    {INT, -1, 10000, 1, {FIELD(n_cuda)}},
    {INT, -1, 10000, 1, {FIELD(n_opencl)}},
    {INT, 0, 1000, 1, {FIELD(n_emulated)}},
    {INT, 1, 1000, 3, {FIELD(cuda_streams), FIELD(opencl_streams), FIELD(emulated_streams)}},
    {SIZE, 0, 0, 3, {FIELD(cuda_memory), FIELD(opencl_memory), FIELD(emulated_memory)}},
    {SIZE, 0, 0, 1, {FIELD(emulated_memory)}},
    {REAL, 0, 1e9, 1, {FIELD(emulated_bandwidth)}},
    {REAL, 0, 1e9, 1, {FIELD(emulated_latency)}},
    {REAL, 1, 1e6, 1, {FIELD(emulated_slowdown)}},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tool_machine *machine = state->input;
	int i = key - KEY_MACHINE;
	if (key == ARGP_KEY_INIT)
		for (size_t k = 0; k < TOOL_MACHINE_OPTIONS; k++)
			machine->values[k] = NAN;
	if (i < 0 || i >= TOOL_MACHINE_OPTIONS)
		return key == ARGP_KEY_INIT ? 0 : ARGP_ERR_UNKNOWN;
	const struct target *t = &targets[i];
	/* the first option is the title */
	char *option = tool_format("--%s", options[i + 1].name);
	if (t->type == INT)
		machine->values[i] = (double)tool_int(state, option, arg, (long)t->min, (long)t->max);
	else
		machine->values[i] = t->type == SIZE ? (double)tool_size(state, option, arg)
		                                     : tool_real(state, option, arg, t->min, t->max);
	free(option);
	return 0;
}

const struct argp tool_machine_argp = {.options = options, .parser = parse};

void tool_machine_apply(const struct tool_machine *machine, struct heddle_config *config)
{
	for (size_t i = 0; i < TOOL_MACHINE_OPTIONS; i++)
		for (size_t k = 0; k < targets[i].n && !isnan(machine->values[i]); k++) {
			char *field = (char *)config + targets[i].fields[k];
			if (targets[i].type == INT)
				*(int *)field = (int)machine->values[i];
			else if (targets[i].type == SIZE)
				*(uint64_t *)field = (uint64_t)machine->values[i];
			else
				*(double *)field = machine->values[i];
		}
}

/* --- Clusters ----------------------------------------------------------------------------------------------------- */

#define CLUSTERS_ARE                                                                                           \
	"Group cores into clusters, which run parallel tasks: none, socket, numa, l3, 10 (cores each), 2x10, " \
	"1x10+10x1, or a file with ranges of cores"
#define ADAPTIVE_IS \
	"; adaptive: clusters change while tasks run; auto: the best of these cluster sets, found by virtual runs"
#define OPTION(text)                                                \
	{                                                           \
		{"clusters", KEY_CLUSTERS, "CLUSTERS", 0, text, 4}, \
		{                                                   \
			0                                           \
		}                                                   \
	}
static const struct argp_option clusters_options[] = OPTION(CLUSTERS_ARE),
                                auto_options[] = OPTION(CLUSTERS_ARE ADAPTIVE_IS),
                                any_options[] = OPTION(
                                    CLUSTERS_ARE "; adaptive or auto: the bounds hold for all these cluster sets");

static error_t parse_clusters(int key, char *arg, struct argp_state *state)
{
	const char **clusters = state->input;
	if (key == ARGP_KEY_INIT)
		*clusters = NULL;
	if (key == KEY_CLUSTERS)
		*clusters = arg;
	return key == ARGP_KEY_INIT || key == KEY_CLUSTERS ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp tool_clusters_argp = {.options = clusters_options, .parser = parse_clusters};
const struct argp tool_auto_clusters_argp = {.options = auto_options, .parser = parse_clusters};
const struct argp tool_any_clusters_argp = {.options = any_options, .parser = parse_clusters};
