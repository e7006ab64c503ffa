/* The library is loaded, used in checking mode and unloaded by a thread, which ends later: unloading LIBRARY. Ends with
 * 77 if the library stays loaded. */
#include <dlfcn.h>
#include <heddle.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void *find(const char *name)
{
	void *function = dlsym(library, name);
	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return function;
}
#define CALL(name, ...) ((__typeof__(name) *)(uintptr_t)find(#name))(__VA_ARGS__)

static int has_run;

static int kernel(heddle_context *c)
{
	(void)c;
	has_run = 1;
	return 0;
}

/* The kernel runs in this thread. */
static int run_task(void)
{
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_codelet *codelet;
	int status = CALL(heddle_config_init, &config);
	config.platform = NULL;
	config.model_dir = "none";
	config.check = config.caller_works = config.n_cpu = 1;
	if (status || CALL(heddle_start, &config, &rt))
		return 1;
	const struct heddle_codelet_desc desc = {.name = "task", .cpu = kernel};
	if (CALL(heddle_codelet_create, rt, &desc, &codelet))
		return 1;
	const struct heddle_item item = {.what = HEDDLE_ITEM_CODELET, .ptr = codelet};
	status = CALL(heddle_submit_items, rt, 1, &item) || CALL(heddle_wait_all, rt);
	return CALL(heddle_stop, rt) || status || !has_run;
}

static void *use_and_unload(void *arg)
{
	const char *path = arg;
	static int status;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	status = run_task();
	dlclose(library);
	if (!status && dlopen(path, RTLD_NOW | RTLD_NOLOAD))
		status = 77;
	return &status;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *status;
	if (argc != 2 || pthread_create(&thread, NULL, use_and_unload, argv[1]) || pthread_join(thread, &status))
		return 1;
	return *(int *)status;
}
