/* heddle machine: shows this machine as a runtime sees it, the devices that drivers find, and what is missing. */
#include "shared/tool.h"
#include <dense/cuda/offer.h>
#include <dense/opencl/offer.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine.h"
#include "start/devices.h"

enum { KEY_MEASURE = 0xb000 };

struct options {
	struct tool_view view;
	struct tool_machine machine;
	const char *clusters;
	int measure;
};

static const struct argp_option options[] = {
    {"measure", KEY_MEASURE, NULL, 0, "Show the figures of links that are measured when a runtime starts", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->view.format;
		state->child_inputs[1] = &o->view.settings;
		state->child_inputs[2] = &o->machine;
		state->child_inputs[3] = &o->clusters;
		return 0;
	case KEY_MEASURE: o->measure = 1; return 0;
	case ARGP_KEY_ARG: tool_option_error(state, "unexpected argument \"%s\"", arg); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0},
                                             {&tool_set_argp, 0, NULL, 0},
                                             {&tool_machine_argp, 0, NULL, 0},
                                             {&tool_clusters_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Shows what this machine is made of: memory nodes, classes of workers, workers and the cores they "
           "are bound to, links; then its CUDA and OpenCL devices, or what is missing for them and how to get it. "
           "CUDA devices are used where there are some, OpenCL devices and emulated accelerators when they are asked "
           "for.\v"
           "Bandwidths of real links are measured when a runtime first needs them, or by --measure; until then "
           "they are assumed.",
};

/* --- Devices ------------------------------------------------------------------------------------------------------ */

static const struct table_column columns[] = {
    {"kind", NULL, NULL, TABLE_AS_TEXT},
    {"device", NULL, NULL, TABLE_AS_TEXT},
    {"used", NULL, NULL, TABLE_AS_TEXT},
    {"type", NULL, NULL, TABLE_AS_TEXT},
    {"memory_mib", "memory", "MiB", 0},
    {"address", NULL, NULL, TABLE_AS_TEXT},
    {"near_cores", "near cores", NULL, TABLE_AS_TEXT},
    {"name", NULL, NULL, TABLE_AS_TEXT},
    {"offered_by", "offered by", NULL, TABLE_AS_TEXT},
    {"driver", NULL, NULL, TABLE_AS_TEXT},
    {"missing", NULL, NULL, TABLE_AS_TEXT},
};

static int is_used(const struct heddle_platform *p, const struct hd_found_device *d)
{
	for (size_t i = 0; i < p->n_workers; i++)
		if (p->workers[i].device == d->number &&
		    strcmp(p->classes[p->workers[i].class_id].kind, d->kind.kind) == 0)
			return 1;
	return 0;
}

/* The cores near a device, as "0-5,8". */
static char *near_cores(const struct hd_topology *topology, const char *address)
{
	char *list = tool_format("%s", "");
	int n = (int)hd_topology_cores(topology);
	for (int core = 0; core < n; core++) {
		int first = core;
		while (core < n && hd_topology_near(topology, address, core))
			core++;
		if (core == first)
			continue;
		char *longer = core - first > 1 ? tool_format("%s%s%d-%d", list, *list ? "," : "", first, core - 1)
		                                : tool_format("%s%s%d", list, *list ? "," : "", first);
		free(list);
		list = longer;
	}
	return list;
}

/* Why dense linear algebra cannot use the device at full speed, or NULL. CLBlast is only used on devices that are no
 * CPUs. */
static const char *missing_kernels(const struct hd_found_device *d)
{
	if (strcmp(d->kind.kind, "cuda") == 0)
		return hd_dense_cuda_missing();
	if (strcmp(d->kind.kind, "opencl") != 0)
		return NULL;
	return strcmp(d->about.type, "cpu") == 0 ? NULL : hd_dense_opencl_missing();
}

static void add_device(struct table *table, const struct hd_found_device *d, const struct heddle_platform *p,
                       const struct hd_topology *topology)
{
	table_text(table, "%s", d->kind.kind);
	table_text(table, "%s%u", d->kind.kind, d->number);
	table_text(table, "%s", is_used(p, d) ? "yes" : "no");
	table_optional(table, d->about.type[0] ? d->about.type : NULL);
	table_number(table, d->about.memory ? (double)d->about.memory / 0x1p20 : NAN);
	table_optional(table, d->about.address[0] ? d->about.address : NULL);
	char *cores = near_cores(topology, d->about.address);
	table_optional(table, d->about.address[0] ? cores : NULL);
	free(cores);
	table_text(table, "%s", d->about.name);
	table_optional(table, d->about.platform[0] ? d->about.platform : NULL);
	table_optional(table, d->about.driver[0] ? d->about.driver : NULL);
	table_optional(table, missing_kernels(d));
}

static void add_missing(struct table *table, const struct hd_device_kind *kind, const char *sentence)
{
	table_text(table, "%s", kind->kind);
	table_optional(table, NULL);
	table_optional(table, NULL);
	table_optional(table, NULL);
	table_number(table, NAN);
	for (int i = 0; i < 5; i++)
		table_optional(table, NULL);
	table_text(table, "%s", sentence);
}

static int add_devices(struct table *table, const struct heddle_platform *p)
{
	struct hd_topology *topology;
	if (hd_topology_open(1, &topology))
		return tool_library_error("cannot tell which cores are near a device");
	struct hd_device_kind kind;
	for (size_t i = 0; hd_device_kind_at(i, &kind); i++) {
		struct hd_found found = {0};
		int status = hd_devices_find(&kind, NULL, &found);
		if (status || !found.n)
			add_missing(table, &kind, status ? heddle_last_error() : "there is no device");
		for (size_t k = 0; k < found.n && !status; k++)
			add_device(table, &found.list[k], p, topology);
		free(found.list);
	}
	hd_topology_close(topology);
	return TOOL_OK;
}

static int show(const struct heddle_platform *p, enum table_format format)
{
	struct table devices;
	table_init(&devices, "devices", "Devices", columns, sizeof columns / sizeof *columns);
	int status = add_devices(&devices, p);
	if (!status)
		tool_describe(p, &devices, format);
	table_free(&devices);
	return status;
}

int tool_machine(int argc, char **argv)
{
	struct options o = {.view.format = TABLE_TEXT};
	int status = tool_parse(&argp, argc, argv, &o);
	struct heddle_config config;
	struct heddle_platform *platform;
	heddle_runtime *rt;
	if (!status)
		status = tool_config_init(&config, &o.view.settings);
	if (status)
		return status;
	tool_machine_apply(&o.machine, &config);
	if (o.clusters)
		config.clusters = o.clusters;
	config.platform = NULL;
	if (!o.measure) {
		if (heddle_platform_configured(&config, &platform))
			return tool_start_error("cannot describe this machine");
		status = show(platform, o.view.format);
		heddle_platform_free(platform);
		return status;
	}
	if (heddle_start(&config, &rt))
		return tool_start_error("cannot start the runtime");
	status = show(heddle_runtime_platform(rt), o.view.format);
	if (heddle_stop(rt) && !status)
		status = tool_library_error("cannot stop the runtime");
	return status;
}
