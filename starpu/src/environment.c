/* The settings of a start: environment variables of StarPU, fields of struct starpu_conf, settings of Heddle. */
#include "internal.h"

extern char **environ;

/* Policies of StarPU that Heddle has under another name, or that one of Heddle's stands for. */
static const struct {
	const char *theirs, *ours;
} policies[] = {
    {"dmdasd", "dmdas"},
    {"dmdap", "dmda"},
    {"pheft", "heft"},
    {"peager", "eager"},
    {"graph_test", "prio"},
    {"modular-eager", "eager"},
    {"modular-eager-prio", "prio"},
    {"modular-prio", "prio"},
    {"modular-prio-prefetching", "prio"},
    {"modular-eager-prefetching", "eager"},
    {"modular-random", "random"},
    {"modular-random-prio", "random"},
    {"modular-ws", "ws"},
    {"modular-heft", "dmdas"},
    {"modular-heft2", "dmdas"},
    {"modular-heft-prio", "dmdas"},
    {"modular-dmda", "dmda"},
    {"modular-dmdap", "dmda"},
    {"modular-dmdar", "dmdar"},
    {"modular-dmdas", "dmdas"},
};

/* Variables that are read here or by programs themselves; the others are named once. */
static const char *const known[] = {
    "STARPU_NCPU",
    "STARPU_NCPUS",
    "STARPU_NCUDA",
    "STARPU_NOPENCL",
    "STARPU_SCHED",
    "STARPU_CALIBRATE",
    "STARPU_WORKERS_NOBIND",
    "STARPU_LIMIT_CUDA_MEM",
    "STARPU_LIMIT_OPENCL_MEM",
    "STARPU_LIMIT_CPU_MEM",
    "STARPU_LIMIT_CPU_NUMA_MEM",
    "STARPU_LIMIT_MAX_SUBMITTED_TASKS",
    "STARPU_PERF_MODEL_DIR",
    "STARPU_RESERVE_NCPU",
    "STARPU_SILENT",
    "STARPU_SSILENT",
    "STARPU_RAND_SEED",
    "STARPU_WATCHDOG_TIMEOUT",
    "STARPU_WORKER_STATS",
    "STARPU_OPENCL_ON_CPUS",
    "STARPU_OPENCL_ONLY_ON_CPUS",
};

/* Writes one line with the variables STARPU_... that have no effect. */
static void name_others(void)
{
	static bool named; /* the environment is named once per process */
	char others[1024] = "";
	size_t used = 0;
	if (named || getenv("STARPU_SILENT"))
		return;
	named = true;
	for (char **e = environ; e && *e; e++) {
		size_t length = strcspn(*e, "="), k = 0;
		if (strncmp(*e, "STARPU_", 7))
			continue;
		while (k < sizeof known / sizeof *known && (strncmp(*e, known[k], length) || known[k][length]))
			k++;
		if (k == sizeof known / sizeof *known && used + length + 2 < sizeof others)
			used += (size_t)snprintf(others + used, sizeof others - used, " %.*s", (int)length, *e);
	}
	if (used)
		fprintf(stderr, "heddle: without effect:%s (docs/from-starpu.md lists the variables that have one)\n",
		        others);
}

static const char *policy_of(const char *name)
{
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
		if (!strcmp(policies[i].theirs, name))
			name = policies[i].ours;
	if (heddle_policy_find(name))
		return name;
	fprintf(stderr, "heddle: there is no policy \"%s\"; Heddle chooses one (`heddle policies` lists them)\n", name);
	return "auto";
}

/* The field, unless a variable comes before it; -1: neither says anything. */
static int choose(const struct starpu_conf *conf, int field, const char *variable)
{
	int value = starpu_get_env_number(variable);
	return value >= 0 && !(conf->precedence_over_environment_variables && field >= 0) ? value : field;
}

/* CPU workers: as many as are wanted or, if cores are to be left, at most the others. */
static int cpu_workers(const struct starpu_conf *conf, int present)
{
	/* STARPU_NCPUS is the newer name, whose programs set it */
	const char *variable = getenv("STARPU_NCPUS") ? "STARPU_NCPUS" : "STARPU_NCPU";
	int n = choose(conf, conf->ncpus, variable), leave = choose(conf, conf->reserve_ncpus, "STARPU_RESERVE_NCPU");
	struct heddle_platform *platform;
	int cores = 1;
	if (leave <= 0)
		return n < 0 ? present : n;
	if (!heddle_platform_discover(-1, &platform)) {
		cores = (int)platform->n_workers;
		heddle_platform_free(platform);
	}
	if (leave > 0)
		cores = cores > leave ? cores - leave : 0;
	return n < 0 || (leave > 0 && n > cores) ? cores : n;
}

static void set_memory(const char *variable, uint64_t *bytes)
{
	int megabytes = starpu_get_env_number(variable);
	if (megabytes > 0)
		*bytes = (uint64_t)megabytes << 20;
}

void hd_starpu_environment(const struct starpu_conf *conf, struct heddle_config *config)
{
	const char *sched = getenv("STARPU_SCHED"), *text;
	int n;
	name_others();
	config->n_cpu = cpu_workers(conf, config->n_cpu);
	if ((n = choose(conf, conf->ncuda, "STARPU_NCUDA")) >= 0)
		config->n_cuda = n;
	if ((n = choose(conf, conf->nopencl, "STARPU_NOPENCL")) >= 0)
		config->n_opencl = n;
	if (conf->sched_policy_name && (conf->precedence_over_environment_variables || !sched))
		sched = conf->sched_policy_name;
	if (sched && *sched)
		config->sched = policy_of(sched);
	if (choose(conf, conf->calibrate, "STARPU_CALIBRATE") > 0 && config->calibrate < 10)
		config->calibrate = 10;
	if (starpu_get_env_number("STARPU_WORKERS_NOBIND") > 0)
		config->bind = 0;
	if ((n = starpu_get_env_number("STARPU_LIMIT_MAX_SUBMITTED_TASKS")) > 0)
		config->window = n;
	if ((n = starpu_get_env_number("STARPU_RAND_SEED")) >= 0)
		config->seed = (uint64_t)n;
	if ((text = getenv("STARPU_PERF_MODEL_DIR")) && *text)
		config->model_dir = text;
	set_memory("STARPU_LIMIT_CUDA_MEM", &config->cuda_memory);
	set_memory("STARPU_LIMIT_OPENCL_MEM", &config->opencl_memory);
	/* Programs wait for callbacks without Heddle's knowledge, so that every worker needs a thread of its own. */
	config->caller_works = 0;
}
