/* Random graphs on the stand-in for NVIDIA's driver (tests/standin) while something fails: a random call, the nth one,
 * with a random error; a kernel or a copy, when its turn comes; or a device is lost, readable or not.
 *
 * Then each task either ends well or says why not, and each datum either has the value that the tasks that ended well
 * have given to it, in their order, or has none, which its end says. If nothing has failed by then, all must be right.
 * Afterwards the runtime is still usable, nothing that CUDA gave is left, and nothing hangs. */
#include <dlfcn.h>
#include <cuda.h>
#include "driver/cuda/calls.h"
#include "driver/driver.h"
#include "cuda_kernels.h"
#include "standin.h"
#include "support.h"

enum { MAX_DATA = 8, MAX_TASKS = 48, MAX_ELEMENTS = 256, LARGEST = MAX_ELEMENTS * sizeof(uint64_t), ENOUGH = 100 };

static const struct standin *standin;

/* Of all graphs: kernels that ran on devices, graphs in which something failed, tasks that ended well and not then. */
static struct {
	uint64_t kernels, graphs, good, bad;
} seen;

/* --- What fails --------------------------------------------------------------------------------------------------- */

static const char *const calls[] = {
#define NAME(name, optional) #name,
    HD_CUDA_CALLS(NAME)
#undef NAME
        "kernel",
    "kernel",
    "kernel",
    "copy",
    "copy",
    "copy"};

enum { N_LATER = 6, N_CALLS = sizeof calls / sizeof *calls - N_LATER }; /* the last are not calls */

/* What goes wrong: the nth of `call`, or, if that is NULL, device `nth` is lost when task `at` is submitted. */
struct fault {
	const char *call;
	unsigned nth, at;
	int code, readable;
	int at_start; /* counted from before the runtime starts */
	int none;
	unsigned before; /* its calls when that began */
	char text[160];
};

static void draw_fault(struct hd_rng *rng, struct fault *f)
{
	static const int codes[] = {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY,   CUDA_ERROR_UNKNOWN,
	                            CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ECC_UNCORRECTABLE};
	*f = (struct fault){.none = chance(rng, 0.1), .at_start = chance(rng, 0.2), .readable = chance(rng, 0.5)};
	f->code = codes[below(rng, sizeof codes / sizeof *codes)];
	if (f->none) {
		snprintf(f->text, sizeof f->text, "nothing fails");
	} else if (chance(rng, 0.75)) {
		unsigned i = below(rng, sizeof calls / sizeof *calls);
		f->call = calls[i];
		if (i >= N_CALLS) /* what fails later breaks the device, which CUDA tells by such a code */
			f->code = CUDA_ERROR_ILLEGAL_ADDRESS;
		f->nth = 1 + below(rng, chance(rng, 0.7) ? 5 : 40);
		snprintf(f->text, sizeof f->text, "%s no. %u%s fails with %d", f->call, f->nth,
		         f->at_start ? " from the start" : "", f->code);
	} else {
		f->nth = below(rng, 2);
		f->at = below(rng, MAX_TASKS);
		snprintf(f->text, sizeof f->text, "device %u is lost at task %u%s", f->nth, f->at,
		         f->readable ? ", but readable" : "");
	}
}

/* --- One graph ---------------------------------------------------------------------------------------------------- */

struct datum {
	struct mem own, expected; /* the program's, and what a sequential run leaves in its own */
	heddle_data *handle;
	int is_void;
};

struct task {
	uint64_t k;
	unsigned n, data[CUDA_DATA];
	int modes[CUDA_DATA];
	_Atomic int calls, status;
};

struct graph {
	heddle_runtime *rt;
	heddle_codelet *codelets[3]; /* any worker, CUDA, CPU */
	struct hd_rng rng;
	struct fault fault;
	struct datum data[MAX_DATA];
	struct task tasks[MAX_TASKS];
	unsigned n_data, n_tasks;
	int is_small; /* devices may have less memory than the runtime believes, so tasks may fail for lack of it */
	char problem[1200], machine[160];
};

static int problem(struct graph *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int problem(struct graph *g, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (!g->problem[0])
		vsnprintf(g->problem, sizeof g->problem, format, args);
	va_end(args);
	return -1;
}

/* Whether what was to fail may have done so. */
static int has_failed(const struct graph *g)
{
	const struct fault *f = &g->fault;
	if (g->is_small)
		return 1;
	if (f->call)
		return standin->calls(f->call) >= f->before + f->nth;
	return !f->none && g->n_tasks > f->at;
}

static int cpu_kernel(heddle_context *c)
{
	const struct task *t = *(struct task *const *)heddle_value_ptr(c, 0);
	struct mem mem[CUDA_DATA];
	uint64_t sum;
	for (unsigned i = 0; i < t->n; i++)
		if (mem_of(c, i, &mem[i]))
			return 1;
	return compute(t->k, t->n, t->modes, mem, &sum);
}

static void fulfil(void *arg, int result)
{
	(void)result; /* the runtime finds out by itself */
	heddle_fulfill(arg, 0);
}

/* Its work is followed by a call of a function of ours, by which the task ends. */
static int end_by_event(heddle_context *c)
{
	heddle_event *event = heddle_detach(c);
	if (!event)
		return 1;
	int status = heddle_cuda_then(c, fulfil, event);
	if (status)
		heddle_fulfill(event, 0); /* what is returned counts */
	return status;
}

static int cuda_kernel(heddle_context *c)
{
	const struct task *t = *(struct task *const *)heddle_value_ptr(c, 0);
	int status = compute_cuda(c, t->k, t->n, t->modes);
	return status || t->k % 3 ? status : end_by_event(c);
}

static void note_end(void *arg, int status)
{
	struct task *t = arg;
	t->status = status;
	t->calls++;
}

/* --- Running it --------------------------------------------------------------------------------------------------- */

static int make_datum(struct graph *g)
{
	struct datum *d = &g->data[g->n_data];
	size_t m = 1 + below(&g->rng, 24), n = 1 + below(&g->rng, MAX_ELEMENTS / 24), ld = m + below(&g->rng, 3);
	*d = (struct datum){.own = {calloc(ld * n, sizeof(uint64_t)), m, n, ld},
	                    .expected = {calloc(m * n, sizeof(uint64_t)), m, n, m}};
	if (!d->own.base || !d->expected.base)
		return problem(g, "out of memory");
	g->n_data++;
	for (size_t e = 0; e < m * n; e++)
		*element(&d->own, e) = *element(&d->expected, e) = hd_rng_next(&g->rng);
	return heddle_matrix(g->rt, d->own.base, m, n, ld, sizeof(uint64_t), &d->handle)
	           ? problem(g, "heddle_matrix: %s", heddle_last_error())
	           : 0;
}

static int submit(struct graph *g)
{
	struct task *t = &g->tasks[g->n_tasks];
	struct heddle_item items[CUDA_DATA + 4];
	unsigned wanted = 1 + below(&g->rng, 3);
	t->k = hd_rng_next(&g->rng);
	for (unsigned i = 0; i < wanted; i++) {
		unsigned d = below(&g->rng, g->n_data), known = 0;
		for (unsigned j = 0; j < t->n; j++)
			known |= t->data[j] == d;
		if (known)
			continue;
		t->modes[t->n] = 1 + (int)below(&g->rng, 3);
		t->data[t->n] = d;
		items[t->n] = heddle_access((enum heddle_mode)t->modes[t->n], g->data[d].handle);
		t->n++;
	}
	size_t n = t->n;
	items[n++] = heddle_call(g->codelets[chance(&g->rng, 0.6) ? 0 : 1 + below(&g->rng, 2)]);
	items[n++] = heddle_bytes(&t, sizeof(struct task *));
	items[n++] = heddle_then(note_end, t);
	if (g->n_tasks == g->fault.at && !g->fault.call && !g->fault.none)
		standin->lose((int)g->fault.nth, g->fault.readable);
	g->n_tasks++;
	return heddle_submit_items(g->rt, n, items) ? problem(g, "heddle_submit_items: %s", heddle_last_error()) : 0;
}

/* What the tasks that ended well would have done one after the other. */
static void run_reference(struct graph *g)
{
	for (unsigned i = 0; i < g->n_tasks; i++) {
		const struct task *t = &g->tasks[i];
		struct mem mem[CUDA_DATA];
		uint64_t sum;
		if (t->calls != 1)
			problem(g, "task %u: %d callbacks", i, t->calls);
		if (t->status && !has_failed(g))
			problem(g, "task %u: %s, and nothing was to fail", i, heddle_status_name(t->status));
		for (unsigned a = 0; a < t->n; a++) {
			struct datum *d = &g->data[t->data[a]];
			if (!t->status && d->is_void && t->modes[a] != HEDDLE_W)
				problem(g, "task %u ended well, but datum %u had no value", i, t->data[a]);
			if (t->modes[a] != HEDDLE_R)
				d->is_void = t->status != 0;
			mem[a] = d->expected;
		}
		if (!t->status)
			compute(t->k, t->n, t->modes, mem, &sum);
	}
}

static void finish_datum(struct graph *g, unsigned i)
{
	struct datum *d = &g->data[i];
	int status = heddle_unregister(d->handle);
	if (status && !has_failed(g))
		problem(g, "datum %u: %s, and nothing was to fail", i, heddle_last_error());
	if (status && !heddle_last_error()[0])
		problem(g, "datum %u: no sentence for %s", i, heddle_status_name(status));
	if (!status && d->is_void)
		problem(g, "datum %u: nobody says that it has no value", i);
	if (!status && !d->is_void && !same(&d->own, &d->expected))
		problem(g, "datum %u has another value than in a sequential run", i);
}

/* Whatever has failed: the CPU still runs tasks. */
static void check_usable(struct graph *g)
{
	heddle_data *x;
	struct task t = {.k = 5, .n = 1, .modes = {HEDDLE_W}}, *told = &t;
	uint64_t value = 0, expected = 0, sum;
	struct mem mem = {&expected, 1, 1, 1};
	compute(t.k, 1, t.modes, &mem, &sum);
	if (heddle_matrix(g->rt, &value, 1, 1, 1, sizeof value, &x) ||
	    heddle_submit(g->rt, heddle_call(g->codelets[2]), heddle_w(x), heddle_value(told)) || heddle_unregister(x))
		problem(g, "the runtime is not usable any more: %s", heddle_last_error());
	else if (value != expected)
		problem(g, "the runtime is not usable any more: a task was not run");
}

static void run_graph(struct graph *g)
{
	const struct heddle_implementation cpu = {"cpu", NULL, cpu_kernel}, cuda = {"cuda", NULL, cuda_kernel};
	unsigned n_data = 2 + below(&g->rng, MAX_DATA - 2), n_tasks = 8 + below(&g->rng, MAX_TASKS - 8);
	g->codelets[0] = heddle_codelet_new(g->rt, .name = "any", .cpu = cpu_kernel, .cuda = cuda_kernel);
	g->codelets[1] = heddle_codelet_new(g->rt, .name = "on_cuda", .implementations = &cuda, .n_implementations = 1);
	g->codelets[2] = heddle_codelet_new(g->rt, .name = "on_cpu", .implementations = &cpu, .n_implementations = 1);
	while (g->n_data < n_data && !g->problem[0])
		make_datum(g);
	while (g->n_tasks < n_tasks && !g->problem[0]) {
		submit(g);
		if (heddle_selfcheck(g->rt))
			problem(g, "heddle_selfcheck behind a submission: %s", heddle_last_error());
		if (chance(&g->rng, 0.03))
			heddle_wait_all(g->rt);
	}
	int status = heddle_wait_all(g->rt);
	if (status && !heddle_last_error()[0])
		problem(g, "heddle_wait_all: no sentence for %s", heddle_status_name(status));
	run_reference(g);
	for (unsigned i = 0; i < g->n_data; i++)
		finish_datum(g, i);
	if (heddle_selfcheck(g->rt))
		problem(g, "heddle_selfcheck: %s", heddle_last_error());
	heddle_wait_all(g->rt); /* what the ends of data have reported is known */
	check_usable(g);
}

/* --- One seed ----------------------------------------------------------------------------------------------------- */

static void draw_config(struct graph *g, const struct options *options, uint64_t seed, struct heddle_config *config)
{
	const int windows[] = {1, 3, 16, 0};
	config->sched = policy_name(options, seed);
	config->n_cpu = cores_up_to(1 + (int)below(&g->rng, 2));
	config->n_cuda = 1 + (int)below(&g->rng, 2);
	config->cuda_streams = 1 << below(&g->rng, 3);
	config->cuda_memory = chance(&g->rng, 0.7) ? 3 * LARGEST + below(&g->rng, LARGEST) : 0;
	config->window = windows[below(&g->rng, 4)];
	config->caller_works = chance(&g->rng, 0.3);
	config->pipeline = (int)below(&g->rng, 4);
	config->trace = chance(&g->rng, 0.2);
	config->bind = 0;
	config->model_dir = "none";
	config->seed = seed;
	config->watchdog = HANG_S;
	snprintf(g->machine, sizeof g->machine, "%s, %d cpu, %d cuda of %llu bytes with %d streams, window %d",
	         config->sched, config->n_cpu, config->n_cuda, (unsigned long long)config->cuda_memory,
	         config->cuda_streams, config->window);
}

/* The links are not measured, which would take longer than all that follows. */
static int start(struct graph *g, const struct options *options, uint64_t seed)
{
	struct heddle_config config;
	struct heddle_platform *platform;
	if (heddle_config_init(&config))
		return -1;
	draw_config(g, options, seed, &config);
	int status = heddle_platform_configured(&config, &platform);
	if (status)
		return status;
	status = heddle_start_on(&config, platform, 0, &g->rt);
	heddle_platform_free(platform);
	return status;
}

static void arm(struct fault *f)
{
	f->before = f->call ? standin->calls(f->call) : 0;
	if (f->call)
		(standin->fail)(f->call, f->nth, f->code);
}

/* Starts the runtime, runs the graph, stops it. */
static void run_all(struct graph *g, const struct options *options, uint64_t seed)
{
	if (g->fault.at_start)
		arm(&g->fault);
	if (start(g, options, seed)) {
		if (!has_failed(g) || !heddle_last_error()[0])
			problem(g, "heddle_start: %s", heddle_last_error());
		return;
	}
	current_runtime = g->rt;
	if (!g->fault.at_start)
		arm(&g->fault);
	run_graph(g);
	current_runtime = NULL;
	heddle_stop(g->rt);
}

/* Returns whether something went wrong. */
static int run_seed(const struct options *options, uint64_t seed)
{
	static struct graph graph; /* large */
	struct graph *g = &graph;
	const unsigned leaks = standin->leaks(NULL);
	memset(g, 0, sizeof *g);
	begin_seed(seed);
	hd_rng_seed(&g->rng, seed);
	standin->reset();
	g->is_small = chance(&g->rng, 0.3);
	standin->devices(2, g->is_small ? 2 * LARGEST + below(&g->rng, 4 * LARGEST) : (size_t)1 << 20);
	if (chance(&g->rng, 0.3))
		standin->latency(below(&g->rng, 100));
	draw_fault(&g->rng, &g->fault);
	if (chance(&g->rng, 0.3)) /* a device without pools of memory */
		(standin->fail)("cuMemPoolCreate", 1, CUDA_ERROR_NOT_SUPPORTED);
	if (options->verbose)
		printf("%llu: %s\n", (unsigned long long)seed, g->fault.text);
	run_all(g, options, seed);
	seen.kernels += standin->calls("kernel");
	if (has_failed(g)) {
		seen.graphs++;
		for (unsigned i = 0; i < g->n_tasks; i++)
			*(g->tasks[i].status ? &seen.bad : &seen.good) += 1;
	}
	/* without its context nothing can be given back, but by CUDA itself, with the context */
	if (standin->leaks(NULL) > leaks && !(g->fault.call && strstr(g->fault.call, "PushCurrent"))) {
		standin->leaks(stderr);
		problem(g, "CUDA's things above were not given back");
	}
	for (unsigned i = 0; i < g->n_data && !g->problem[0]; i++) {
		free(g->data[i].own.base);
		free(g->data[i].expected.base);
	}
	if (g->problem[0])
		fprintf(stderr, "%s\n  %s\n  %s\n  replay with --seed %llu --count 1\n", g->problem, g->machine,
		        g->fault.text, (unsigned long long)seed);
	return g->problem[0] != 0;
}

/* Loads the driver and the stand-in; ends the program, which so says that it is left out, where there is none. */
static void find_standin(void)
{
	const struct heddle_driver *driver = hd_driver_find("cuda");
	unsigned n;
	int has_driver = driver && driver->count(&n) == 0;
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	standin = has_driver && library ? dlsym(library, "standin_table") : NULL;
	if (!standin) {
		printf("left out: no stand-in for CUDA's driver\n");
		exit(77);
	}
}

int main(int argc, char **argv)
{
	struct options options;
	uint64_t n_failed = 0;
	if (parse_options(argc, argv, &options))
		return 2;
	watch();
	find_standin();
	for (uint64_t seed = options.seed; seed < options.seed + options.count; seed++) {
		n_failed += (uint64_t)run_seed(&options, seed);
		if (n_failed >= 5)
			break;
	}
	if (n_failed)
		return 1;
	printf(
	    "%llu graphs from seed %llu: all right, or an error that says why not\n%llu kernels on devices; something "
	    "failed in %llu graphs, of whose tasks %llu ended well and %llu did not\n",
	    (unsigned long long)options.count, (unsigned long long)options.seed, (unsigned long long)seen.kernels,
	    (unsigned long long)seen.graphs, (unsigned long long)seen.good, (unsigned long long)seen.bad);
	if (options.count >= ENOUGH && (seen.kernels < 5 * options.count || seen.graphs < options.count / 4)) {
		fprintf(stderr, "that is too little to have tested anything\n");
		return 1;
	}
	return 0;
}
