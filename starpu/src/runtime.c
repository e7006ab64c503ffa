/* Start and stop. */
#include "internal.h"

heddle_runtime *hd_starpu_runtime;
unsigned long hd_starpu_start;
int hd_starpu_virtual;
/* How many starts have not been matched by a stop. Protected by the lock, as the three variables above while they
 * change. */
static int n_starts;
static bool ends_drivers; /* starpu_drivers_request_termination was called since the start */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER; /* also: drivers are to end */

int hd_starpu_errno(int status)
{
	switch (status) {
	case 0: return 0;
	case HEDDLE_E_MEMORY:
	case HEDDLE_E_NO_FIT: return -ENOMEM;
	case HEDDLE_E_NO_WORKER: return -ENODEV;
	case HEDDLE_E_DEADLOCK: return -EDEADLK;
	case HEDDLE_E_CANCELLED:
	case HEDDLE_E_STATE: return -ENODATA;
	case HEDDLE_E_KERNEL:
	case HEDDLE_E_DEVICE:
	case HEDDLE_E_IO: return -EIO;
	default: return -EINVAL;
	}
}

int hd_starpu_complain(const char *function, int status)
{
	if (status)
		fprintf(stderr, "heddle: %s: %s\n", function, heddle_last_error());
	return hd_starpu_errno(status);
}

int starpu_conf_init(struct starpu_conf *conf)
{
	if (!conf)
		return -EINVAL;
	*conf = (struct starpu_conf){.magic = 42,
	                             .ncpus = -1,
	                             .reserve_ncpus = 0,
	                             .ncuda = -1,
	                             .nopencl = -1,
	                             .calibrate = -1,
	                             .bus_calibrate = -1,
	                             .single_combined_worker = -1,
	                             .disable_asynchronous_copy = -1,
	                             .disable_asynchronous_cuda_copy = -1,
	                             .disable_asynchronous_opencl_copy = -1,
	                             .catch_signals = 1};
	return 0;
}

int starpu_conf_noworker(struct starpu_conf *conf)
{
	conf->ncpus = conf->ncuda = conf->nopencl = 0;
	return 0;
}

static bool in_virtual_time(const struct heddle_config *config)
{
	return config->platform && *config->platform;
}

/* Adds CPU workers without a core of their own until there are `n`. */
static int add_workers(struct heddle_platform *platform, unsigned n)
{
	unsigned present = 0, class_id = 0;
	for (unsigned w = 0; w < platform->n_workers; w++)
		if (!strcmp(platform->classes[platform->workers[w].class_id].kind, "cpu")) {
			present++;
			class_id = platform->workers[w].class_id;
			platform->workers[w].core = -1;
		}
	size_t total = platform->n_workers + n - present;
	struct heddle_worker *workers = present ? realloc(platform->workers, total * sizeof *workers) : NULL;
	if (!workers)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for %u workers", n);
	platform->workers = workers;
	while (platform->n_workers < total) {
		char name[32];
		snprintf(name, sizeof name, "more%zu", platform->n_workers);
		workers[platform->n_workers] =
		    (struct heddle_worker){.name = strdup(name), .class_id = class_id, .core = -1};
		if (!workers[platform->n_workers++].name)
			return heddle_error(HEDDLE_E_MEMORY, "no memory for %u workers", n);
	}
	return 0;
}

/* Starts the runtime, with more CPU workers than cores if n_cpu says so: StarPU allows that, and programs that test
 * themselves on small machines ask for it. */
static int start_runtime(struct heddle_config *config)
{
	struct heddle_platform *platform;
	int wanted = config->n_cpu, cores = 0;
	if (wanted <= 0 || in_virtual_time(config))
		return heddle_start(config, &hd_starpu_runtime);
	int status = heddle_platform_discover(-1, &platform);
	if (status)
		return status;
	cores = (int)platform->n_workers;
	heddle_platform_free(platform);
	if (wanted <= cores)
		return heddle_start(config, &hd_starpu_runtime);
	config->n_cpu = cores;
	status = heddle_platform_configured(config, &platform);
	if (status)
		return status;
	status = add_workers(platform, (unsigned)wanted);
	if (!status)
		status = heddle_start_on(config, platform, 0, &hd_starpu_runtime);
	heddle_platform_free(platform);
	return status;
}

static int start(const struct starpu_conf *conf)
{
	struct heddle_config config;
	int status = heddle_config_init(&config);
	if (status &&
	    status != HEDDLE_E_UNKNOWN) /* a misspelt variable, with which the settings are filled all the same */
		return hd_starpu_complain("starpu_init", status);
	if (!in_virtual_time(&config))
		hd_starpu_environment(conf, &config);
	if (!in_virtual_time(&config) && !config.n_cpu && !config.n_cuda && !config.n_opencl && !config.n_emulated)
		return -ENODEV;
	config.caller_works = 0;
	status = start_runtime(&config);
	if (status)
		return hd_starpu_complain("starpu_init", status);
	hd_starpu_virtual = heddle_runtime_is_virtual(hd_starpu_runtime);
	hd_starpu_start++;
	ends_drivers = false;
	return 0;
}

int starpu_init(struct starpu_conf *conf)
{
	struct starpu_conf defaults;
	starpu_conf_init(&defaults);
	if (conf && conf->magic != 42)
		return -EINVAL; /* it was not filled by starpu_conf_init */
	pthread_mutex_lock(&lock);
	int error = n_starts ? 0 : start(conf ? conf : &defaults);
	if (!error)
		n_starts++;
	pthread_cond_broadcast(&started);
	pthread_mutex_unlock(&lock);
	return error;
}

int starpu_initialize(struct starpu_conf *conf, int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return starpu_init(conf);
}

int starpu_is_initialized(void)
{
	pthread_mutex_lock(&lock);
	int yes = n_starts > 0;
	pthread_mutex_unlock(&lock);
	return yes;
}

void starpu_wait_initialized(void)
{
	pthread_mutex_lock(&lock);
	while (!n_starts)
		pthread_cond_wait(&started, &lock);
	pthread_mutex_unlock(&lock);
}

void starpu_shutdown(void)
{
	pthread_mutex_lock(&lock);
	if (n_starts && --n_starts == 0) {
		hd_starpu_unpin_all();
		hd_starpu_complain("starpu_shutdown", heddle_stop(hd_starpu_runtime));
		hd_starpu_runtime = NULL;
		hd_starpu_forget_codelets();
		hd_starpu_forget_handles();
		hd_starpu_forget_children();
		hd_starpu_forget_tags();
	}
	pthread_mutex_unlock(&lock);
}

/* --- Drivers ------------------------------------------------------------------------------------------------------ */

int starpu_driver_init(struct starpu_driver *driver)
{
	return starpu_worker_get_count_by_type(driver->type) ? 0 : -EINVAL;
}

int starpu_driver_run(struct starpu_driver *driver)
{
	int error = starpu_driver_init(driver);
	pthread_mutex_lock(&lock);
	while (!error && !ends_drivers)
		pthread_cond_wait(&started, &lock);
	pthread_mutex_unlock(&lock);
	return error;
}

int starpu_driver_run_once(struct starpu_driver *driver)
{
	starpu_usleep(10);
	return starpu_driver_init(driver);
}

int starpu_driver_deinit(struct starpu_driver *driver)
{
	return starpu_driver_init(driver);
}

void starpu_drivers_request_termination(void)
{
	pthread_mutex_lock(&lock);
	ends_drivers = true;
	pthread_cond_broadcast(&started);
	pthread_mutex_unlock(&lock);
}

void starpu_get_version(int *major, int *minor, int *release)
{
	*major = STARPU_MAJOR_VERSION;
	*minor = STARPU_MINOR_VERSION;
	*release = STARPU_RELEASE_VERSION;
}

static int n_pauses; /* starpu_pause without starpu_resume; protected by the lock */

void starpu_pause(void)
{
	pthread_mutex_lock(&lock);
	n_pauses++;
	pthread_mutex_unlock(&lock);
	hd_starpu_complain(__func__, heddle_pause(hd_starpu_runtime));
}

void starpu_resume(void)
{
	pthread_mutex_lock(&lock);
	n_pauses--;
	pthread_mutex_unlock(&lock);
	hd_starpu_complain(__func__, heddle_resume(hd_starpu_runtime));
}

int starpu_is_paused(void)
{
	pthread_mutex_lock(&lock);
	int yes = n_pauses > 0;
	pthread_mutex_unlock(&lock);
	return yes;
}

void starpu_set_limit_min_submitted_tasks(int limit)
{
	(void)limit;
}

void starpu_set_limit_max_submitted_tasks(int limit)
{
	(void)limit;
}

heddle_runtime *starpu_heddle_runtime(void)
{
	return hd_starpu_runtime;
}
