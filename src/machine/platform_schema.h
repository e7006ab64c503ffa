/* A platform file as libcyaml sees it (docs/platforms.md describes the keys). Private to src/machine.
 *
 * Every value is a string here: libcyaml 1.3 takes "6 GB/s" for the number 6, and writes doubles through a
 * static buffer. An absent key is NULL. The structures live between the file and struct heddle_platform and
 * nowhere else. */
#ifndef HD_MACHINE_PLATFORM_SCHEMA_H
#define HD_MACHINE_PLATFORM_SCHEMA_H

#include <cyaml/cyaml.h>
#include <stddef.h>

struct file_node {
	char *name, *capacity_mib, *capacity_bytes; /* at most one of the two is given; neither: no limit */
};

struct file_class {
	char *name, *kind, *cores, *pipeline, *slowdown, *streams;
	char **sharing;
	size_t n_sharing;
};

struct file_worker {
	char *name, *class_name, *node, *core, *retired;
	char *count, *first; /* if given, workers name<first>, name<first + 1>, ... on consecutive cores */
};

struct file_bus {
	char *name, *bandwidth_mbs;
};

struct file_link {
	char *from, *to, *bandwidth_mbs, *latency_us;
	char **buses;
	size_t n_buses;
};

struct file_point {
	char *bytes, *us;
};

struct file_kernel {
	char *codelet, *class_name;
	struct file_point *table;
	size_t n_table;
	char *gflops, *half_flops, *latency_us, *bandwidth_mbs;
};

struct file_level {
	char *name;
	char **cores; /* each "FIRST-LAST", or one number */
	size_t n_cores;
};

struct file_factor {
	char *bytes, *factor;
};

struct file_speedup {
	char *codelet, *class_name, *cores;
	struct file_factor *factors;
	size_t n_factors;
	char *latency_us, *bandwidth_mbs;
};

struct file_platform {
	char *version, *name, *description, *source;
	struct file_node *nodes;
	size_t n_nodes;
	struct file_class *classes;
	size_t n_classes;
	struct file_worker *workers;
	size_t n_workers;
	struct file_bus *buses;
	size_t n_buses;
	struct file_link *links;
	size_t n_links;
	struct file_kernel *kernels;
	size_t n_kernels;
	struct file_level *levels;
	size_t n_levels;
	struct file_speedup *speedups;
	size_t n_speedups;
};

#define HD_PLATFORM_VERSION "1"

extern const struct cyaml_schema_value hd_platform_schema;

/* What libcyaml has reported. Zeroed before each call of libcyaml, which gets it as log_ctx. */
struct hd_yaml_report {
	char problem[256]; /* libcyaml's first message */
	char path[192];    /* where: "links[3].from" */
	/* the list that contains the mapping with the problem: "links", "table"; "" at the top level */
	char list[64];
	size_t line, column; /* 0: unknown */
	int in_backtrace;
};
cyaml_config_t hd_yaml_config(struct hd_yaml_report *report);

/* Whether memory ran out, for which libcyaml has several errors. */
int hd_yaml_out_of_memory(cyaml_err_t error, const struct hd_yaml_report *report);

/* yaml_line.c: the line in which key `key` of element `i` of the list stands, or else that element; 0: not known. */
size_t hd_yaml_line(const char *yaml, size_t length, const char *list, size_t i, const char *key);

/* Makes the message "FILE: line 12, links[3].from: ..." for what libcyaml refused in `yaml`, and returns the status. */
int hd_yaml_error(const char *file, const char *yaml, size_t length, cyaml_err_t error, struct hd_yaml_report *report);

#endif
