/* Codelets: copies the program's description, and finds which classes of workers of this machine can run the codelet,
 * and with which kernel. */
#include "codelet.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "errands.h"
#include "task_model.h"
#include "driver/driver.h"
#include "machine/machine.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/memory.h"
#include "state/process.h"

static heddle_kernel short_form(const struct heddle_codelet_desc *d, const char *kind)
{
	if (strcmp(kind, "cpu") == 0)
		return d->cpu;
	if (strcmp(kind, "emulated") == 0)
		return d->emulated;
	if (strcmp(kind, "opencl") == 0)
		return d->opencl;
	return strcmp(kind, "cuda") == 0 ? d->cuda : NULL;
}

static heddle_kernel kernel_for(const struct heddle_codelet_desc *d, const char *kind)
{
	for (size_t i = 0; i < d->n_implementations; i++)
		if (strcmp(d->implementations[i].kind, kind) == 0)
			return d->implementations[i].kernel;
	heddle_kernel kernel = short_form(d, kind);
	const char *like = kernel ? NULL : hd_driver_kernels_of(kind);
	return like ? kernel_for(d, like) : kernel;
}

static int check_subgraphs(const struct heddle_codelet_desc *d)
{
	if (d->n_subgraphs && (!d->subgraphs || d->subgraph || d->n_subgraphs > INT_MAX))
		return hd_error(HEDDLE_E_INVALID,
		                d->subgraph ? "codelet %s has both .subgraph and .n_subgraphs: put all into .subgraphs"
		                            : "codelet %s has a count of sub-graphs without the array, or a wrong one",
		                d->name);
	for (size_t i = 0; i < d->n_subgraphs; i++)
		if (!d->subgraphs[i].submit)
			return hd_error(HEDDLE_E_INVALID, "codelet %s: sub-graph %zu lacks its function", d->name, i);
	if ((d->expand || d->expand_at_submission) && !d->subgraph && !d->n_subgraphs)
		return hd_error(HEDDLE_E_INVALID, "codelet %s says when to expand its tasks, but has no sub-graph",
		                d->name);
	return 0;
}

static int check_cores(const struct heddle_codelet_desc *d)
{
	if ((int)d->parallel < HEDDLE_SEQUENTIAL || (int)d->parallel > HEDDLE_SPMD)
		return hd_error(
		    HEDDLE_E_INVALID,
		    "codelet %s: parallel is %d: it must be HEDDLE_SEQUENTIAL, HEDDLE_FORK_JOIN or HEDDLE_SPMD",
		    d->name, (int)d->parallel);
	if (d->max_cores && d->min_cores > d->max_cores)
		return hd_error(HEDDLE_E_INVALID, "codelet %s: min_cores is %u, more than max_cores, %u", d->name,
		                d->min_cores, d->max_cores);
	return 0;
}

static int check_desc(const struct heddle_codelet_desc *d)
{
	if (!d || !d->name || !d->name[0])
		return hd_error(HEDDLE_E_INVALID, "a codelet needs a name: models and traces are kept under it");
	if ((d->n_modes && !d->modes) || (d->n_implementations && !d->implementations))
		return hd_error(HEDDLE_E_INVALID, "codelet %s has a count of %s without the array", d->name,
		                d->n_modes && !d->modes ? "modes" : "implementations");
	int status = check_subgraphs(d);
	if (status)
		return status;
	for (size_t i = 0; i < d->n_implementations; i++)
		if (!d->implementations[i].kind || !d->implementations[i].kernel)
			return hd_error(HEDDLE_E_INVALID, "codelet %s: implementation %zu lacks a kind or a kernel",
			                d->name, i);
	if (!d->cpu && !d->emulated && !d->opencl && !d->cuda && !d->n_implementations && !d->subgraph &&
	    !d->n_subgraphs)
		return hd_error(HEDDLE_E_INVALID,
		                "codelet %s has no kernel: give at least one, such as .cpu, or a .subgraph", d->name);
	for (size_t i = 0; i < d->n_modes; i++)
		if (d->modes[i] != HEDDLE_R && d->modes[i] != HEDDLE_W && d->modes[i] != HEDDLE_RW &&
		    d->modes[i] != HEDDLE_SCRATCH && d->modes[i] != HEDDLE_REDUX && d->modes[i] != HEDDLE_COMMUTE)
			return hd_error(HEDDLE_E_INVALID, "codelet %s: %d is not an access mode", d->name, d->modes[i]);
	status = check_cores(d);
	if (status)
		return status;
	if (d->model == HEDDLE_MODEL_LINEAR && !d->regressors)
		return hd_error(HEDDLE_E_INVALID, "codelet %s: a linear model needs its regressors", d->name);
	if (d->model == HEDDLE_MODEL_GIVEN && !d->time)
		return hd_error(HEDDLE_E_INVALID, "codelet %s: a given model needs its time function", d->name);
	return 0;
}

/* --- Kinds of workers in messages --------------------------------------------------------------------------------- */

static int has_word(const char *list, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
			return 1;
	return 0;
}

/* Appends `word` to the list ("a, b" and "c" make "a, b, c") unless the list has it. Takes ownership of `list`, and
 * returns the result, which the caller owns. NULL: out of memory, or `list` is NULL. */
static char *with_word(char *list, const char *word)
{
	if (!list || has_word(list, word))
		return list;
	char *longer = hd_format("%s%s%s", list, *list ? ", " : "", word);
	free(list);
	return longer;
}

static int is_kind(const heddle_runtime *rt, const char *kind)
{
	for (size_t i = 0; i < HD_N_KINDS; i++)
		if (strcmp(hd_kinds[i], kind) == 0)
			return 1;
	for (size_t i = 0; i < rt->platform->n_classes; i++)
		if (strcmp(rt->platform->classes[i].kind, kind) == 0)
			return 1;
	return 0;
}

static int unknown_kind(const heddle_runtime *rt, const char *codelet, const char *kind)
{
	const struct heddle_platform *p = rt->platform;
	const char **known = malloc((HD_N_KINDS + p->n_classes) * sizeof *known);
	char *list = strdup("");
	size_t n = 0;
	for (size_t i = 0; i < HD_N_KINDS && known; i++)
		known[n++] = hd_kinds[i];
	for (size_t i = 0; i < p->n_classes && known; i++)
		known[n++] = p->classes[i].kind;
	const char *near = hd_nearest(kind, known, n);
	for (size_t i = 0; i < n; i++)
		list = with_word(list, known[i]);
	int status = near
	                 ? hd_error(HEDDLE_E_UNKNOWN,
	                            "codelet %s: there is no kind of workers \"%s\"; did you mean \"%s\"? There are %s",
	                            codelet, kind, near, list ? list : near)
	                 : hd_error(HEDDLE_E_UNKNOWN, "codelet %s: there is no kind of workers \"%s\"; there are %s",
	                            codelet, kind, list ? list : "cpu and others");
	free(list);
	free(known);
	return status;
}

/* A kernel for an unknown kind of workers is an error, because the kind may be misspelt. */
static int check_kinds(const heddle_runtime *rt, const struct heddle_codelet_desc *d)
{
	for (size_t i = 0; i < d->n_implementations; i++)
		if (!is_kind(rt, d->implementations[i].kind))
			return unknown_kind(rt, d->name, d->implementations[i].kind);
	return 0;
}

/* Copies the descriptions of sub-graphs; the short form becomes an array with one element. */
static int copy_subgraphs(heddle_codelet *c, const struct heddle_codelet_desc *d)
{
	const struct heddle_subgraph one = {.submit = d->subgraph}, *from = d->subgraph ? &one : d->subgraphs;
	size_t n = d->subgraph ? 1 : d->n_subgraphs;
	struct heddle_subgraph *all = n ? calloc(n, sizeof *all) : NULL;
	if (n && !all)
		return hd_no_memory("a codelet");
	c->desc.subgraphs = all;
	c->desc.n_subgraphs = n;
	for (size_t i = 0; i < n; i++) {
		all[i].submit = from[i].submit;
		if (from[i].name && !(all[i].name = strdup(from[i].name)))
			return hd_no_memory("a codelet");
	}
	return 0;
}

static int copy_desc(heddle_codelet *c, const struct heddle_codelet_desc *d)
{
	c->desc = *d;
	c->desc.implementations = NULL; /* the array belongs to the program; resolve copies its kernels to c->kernels */
	c->desc.modes = NULL;
	c->desc.subgraphs = NULL;
	c->desc.n_subgraphs = 0;
	c->desc.name = strdup(d->name);
	if (d->n_modes) {
		int *modes = malloc(d->n_modes * sizeof *modes);
		if (modes)
			memcpy(modes, d->modes, d->n_modes * sizeof *modes);
		c->desc.modes = modes;
	}
	return c->desc.name && (c->desc.modes || !d->n_modes) ? copy_subgraphs(c, d) : hd_no_memory("a codelet");
}

/* --- Classes that can run the codelet ----------------------------------------------------------------------------- */

static char *kinds_of(const struct heddle_codelet_desc *d)
{
	char *kinds = strdup("");
	const struct {
		heddle_kernel kernel;
		const char *kind;
	} short_forms[] = {{d->cpu, "cpu"}, {d->emulated, "emulated"}, {d->cuda, "cuda"}, {d->opencl, "opencl"}};
	for (size_t i = 0; i < sizeof short_forms / sizeof short_forms[0]; i++)
		if (short_forms[i].kernel)
			kinds = with_word(kinds, short_forms[i].kind);
	for (size_t i = 0; i < d->n_implementations; i++)
		kinds = with_word(kinds, d->implementations[i].kind);
	return kinds;
}

/* Whether workers of the class have the number of cores that the codelet demands. */
static int cores_suit(const struct heddle_codelet_desc *d, const struct heddle_class *class_)
{
	if (strcmp(class_->kind, "cpu") != 0)
		return 1;
	unsigned cores = class_->cores ? class_->cores : 1;
	return cores >= d->min_cores && (!d->max_cores || cores <= d->max_cores);
}

/* Error: the codelet needs workers with another number of cores. */
static int no_such_cores(const heddle_codelet *c)
{
	const struct heddle_codelet_desc *d = &c->desc;
	const heddle_runtime *rt = c->rt;
	char *sizes = strdup("");
	for (size_t w = 0; w < rt->n_workers && sizes; w++) {
		const struct heddle_class *class_ = &rt->platform->classes[rt->workers[w].class_id];
		char size[16];
		snprintf(size, sizeof size, "%u", class_->cores ? class_->cores : 1);
		if (strcmp(class_->kind, "cpu") == 0)
			sizes = with_word(sizes, size);
	}
	char most[32] = "or more";
	if (d->max_cores)
		snprintf(most, sizeof most, "to %u", d->max_cores);
	int status = hd_error(HEDDLE_E_NO_WORKER,
	                      "no worker of this runtime can run codelet %s: it needs a CPU worker of %u %s cores "
	                      "(min_cores, max_cores), and there are CPU workers of %s; group cores into clusters "
	                      "(docs/parallel.md), or let the codelet run on others",
	                      d->name, d->min_cores ? d->min_cores : 1, most, sizes ? sizes : "others");
	free(sizes);
	return status;
}

int hd_codelet_no_worker(const heddle_codelet *c)
{
	const heddle_runtime *rt = c->rt;
	if (c->cores_refused)
		return no_such_cores(c);
	char *kinds = strdup("");
	for (size_t w = 0; w < rt->n_workers; w++)
		kinds = with_word(kinds, rt->platform->classes[rt->workers[w].class_id].kind);
	int status = hd_error(HEDDLE_E_NO_WORKER,
	                      "no worker of this runtime can run codelet %s: it has kernels for %s; the workers "
	                      "are of kind %s",
	                      c->desc.name, c->kinds, kinds ? kinds : "?");
	free(kinds);
	return status;
}

int hd_codelet_not_on(const heddle_codelet *c, unsigned worker)
{
	const struct heddle_class *class_ = &c->rt->platform->classes[c->rt->workers[worker].class_id];
	if (!cores_suit(&c->desc, class_))
		return hd_error(
		    HEDDLE_E_NO_WORKER,
		    "worker %u, of %u cores, cannot run codelet %s: its min_cores is %u and its max_cores %u", worker,
		    class_->cores ? class_->cores : 1, c->desc.name, c->desc.min_cores, c->desc.max_cores);
	return hd_error(HEDDLE_E_NO_WORKER, "worker %u, of kind %s, cannot run codelet %s, which has kernels for %s",
	                worker, class_->kind, c->desc.name, c->kinds);
}

/* Whether a class has workers and can run the codelet. An engine that runs kernels needs a kernel for the class. In
 * virtual time, the platform or the codelet must have a model of the time; whether the model has a time for the sizes
 * of a task is checked per task (check_times in task_model.c). */
static int class_can(heddle_runtime *rt, heddle_codelet *c, size_t class_id)
{
	if (!rt->class_counts[class_id].n)
		return 0;
	if (!rt->engine->times_are_given)
		return c->kernels[class_id] != NULL;
	if (c->desc.model == HEDDLE_MODEL_GIVEN)
		return 1;
	const struct heddle_platform *p = rt->platform;
	for (size_t i = 0; i < p->n_kernels; i++)
		if (p->kernels[i].class_id == class_id && strcmp(p->kernels[i].codelet, c->desc.name) == 0)
			return 1;
	return 0;
}

static int resolve(heddle_runtime *rt, heddle_codelet *c, const struct heddle_codelet_desc *d)
{
	c->kinds = kinds_of(d);
	c->class_ok = calloc(rt->n_classes, sizeof *c->class_ok);
	c->kernels = calloc(rt->n_classes, sizeof *c->kernels);
	if (!c->kinds || !c->class_ok || !c->kernels)
		return hd_no_memory("a codelet");
	for (size_t i = 0; i < rt->n_classes; i++) {
		c->kernels[i] = kernel_for(d, rt->platform->classes[i].kind);
		c->class_ok[i] = (uint8_t)class_can(rt, c, i);
		if (!cores_suit(d, &rt->platform->classes[i])) {
			c->cores_refused |= c->class_ok[i];
			c->class_ok[i] = 0;
			c->kernels[i] = NULL;
		}
		c->class_bits |= (uint64_t)c->class_ok[i] << i % 64;
		c->n_able += c->class_ok[i] ? rt->class_counts[i].n : 0;
	}
	int unlimited = !rt->limited;
	for (size_t w = 0; w < rt->n_workers && !unlimited; w++) {
		if (!c->class_ok[rt->workers[w].class_id])
			continue;
		uint64_t capacity = rt->memories[rt->workers[w].node].capacity;
		unlimited = capacity == 0;
		if (capacity > c->max_bytes)
			c->max_bytes = capacity;
	}
	if (unlimited)
		c->max_bytes = 0;
	c->unchecked = c->n_able && !rt->limited && !d->can_run && !d->footprint && !d->n_modes && !c->desc.n_subgraphs;
	c->everywhere = c->n_able == rt->n_workers && !d->can_run && !rt->limited && !rt->engine->times_are_given;
	return 0;
}

/* --- Several implementations per kind ----------------------------------------------------------------------------- */

static int has_choice(const struct heddle_codelet_desc *d)
{
	for (size_t i = 0; i < d->n_implementations; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(d->implementations[i].kind, d->implementations[k].kind) == 0)
				return 1;
	return 0;
}

static int add_choice(heddle_runtime *rt, heddle_codelet *c, const struct heddle_implementation *from, size_t i)
{
	struct hd_implementation *to = &c->choices[c->n_choices++];
	to->kernel = from->kernel;
	to->kind = strdup(from->kind);
	to->model_name =
	    from->name ? hd_format("%s.%s", c->desc.name, from->name) : hd_format("%s.%zu", c->desc.name, i);
	if (!to->kind || !to->model_name)
		return hd_no_memory("a codelet");
	struct heddle_codelet_desc desc = c->desc;
	desc.name = to->model_name;
	return hd_perf_model(rt->perf, &desc, &to->model);
}

/* Called with the core lock, which guards the models. */
static int open_choices(heddle_runtime *rt, heddle_codelet *c, const struct heddle_codelet_desc *d)
{
	HD_HELD(&rt->lock);
	if (!rt->engine->runs_kernels || !has_choice(d))
		return 0;
	if (d->n_implementations > HD_MAX_CHOICES)
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "codelet %s has %zu implementations; the choice is among %d at most", d->name,
		                d->n_implementations, HD_MAX_CHOICES);
	c->choices = calloc(d->n_implementations, sizeof *c->choices);
	int status = c->choices ? 0 : hd_no_memory("a codelet");
	for (size_t i = 0; i < d->n_implementations && !status; i++)
		status = add_choice(rt, c, &d->implementations[i], i);
	return status;
}

void hd_codelet_choose(heddle_task *t, unsigned class_id, unsigned calibrate)
{
	const heddle_codelet *c = t->codelet;
	const char *kind = c->rt->platform->classes[class_id].kind;
	double least = 0;
	for (size_t i = 0; i < c->n_choices; i++) {
		if (strcmp(c->choices[i].kind, kind) != 0)
			continue;
		const struct hd_perf_entry *e = hd_task_entry(t, c->choices[i].model);
		unsigned samples = e ? e->cells[class_id].samples : 0;
		/* An implementation with too few samples gets a negative cost, and so precedes all others; the fewer
		 * its samples, the lower its cost. */
		double cost = samples < calibrate || !e || isnan(hd_perf_time(e, class_id)) ? -1.0 / (samples + 1.0)
		                                                                            : hd_perf_time(e, class_id);
		if (t->choice && cost >= least)
			continue;
		t->choice = (uint16_t)(i + 1);
		least = cost;
	}
}

void hd_codelet_record(heddle_task *t, unsigned class_id, double us)
{
	struct hd_perf_entry *e = hd_task_entry(t, t->codelet->choices[t->choice - 1].model);
	if (e)
		hd_perf_record(e, class_id, us);
}

/* --- Times of events ---------------------------------------------------------------------------------------------- */

/* Opens the model "CODELET.event" of the time from the end of a kernel to the end of its task. It is of the same kind
 * as the codelet's model, unless the program gives the times by a function. */
static int make_event_model(heddle_codelet *c)
{
	HD_HELD(&c->rt->lock);
	struct heddle_codelet_desc desc = c->desc;
	char *name = hd_format("%s.event", c->desc.name);
	if (!name)
		return hd_no_memory("a codelet");
	desc.name = name;
	desc.time = c->desc.event_time;
	if (c->desc.event_time)
		desc.model = HEDDLE_MODEL_GIVEN;
	else if (c->desc.model == HEDDLE_MODEL_GIVEN)
		desc.model = HEDDLE_MODEL_HISTORY;
	int status = hd_perf_model(c->rt->perf, &desc, &c->event_model);
	free(name);
	return status;
}

/* Whether the platform has times for events of the codelet. */
static int platform_has_events(const heddle_codelet *c)
{
	const struct heddle_platform *p = c->rt->platform;
	size_t length = strlen(c->desc.name);
	for (size_t i = 0; i < p->n_kernels; i++)
		if (p->kernels[i].codelet[0] ==
		        /* this cheap test comes first, because programs may create many codelets */
		        c->desc.name[0] &&
		    strncmp(p->kernels[i].codelet, c->desc.name, length) == 0 &&
		    strcmp(p->kernels[i].codelet + length, ".event") == 0)
			return 1;
	return 0;
}

void hd_codelet_open_event(heddle_codelet *c)
{
	HD_HELD(&c->rt->lock);
	if (!c->event_model && !c->rt->engine->times_are_given && !c->desc.event_time)
		make_event_model(c);
}

void hd_codelet_record_event(heddle_task *t, double us)
{
	const heddle_codelet *c = t->codelet;
	HD_HELD(&c->rt->lock);
	if (!c->event_model || c->rt->engine->times_are_given)
		return;
	struct hd_perf_entry *e = hd_task_entry(t, c->event_model);
	if (e)
		hd_perf_record(e, c->rt->workers[t->worker].class_id, us);
}

int hd_codelet_event_time(const heddle_task *t, unsigned class_id, double *us)
{
	*us = 0;
	if (HD_LIKELY(!t->codelet->event_model))
		return 0;
	const struct hd_perf_entry *e = hd_task_entry(t, t->codelet->event_model);
	if (!e)
		return HEDDLE_E_MEMORY;
	*us = fmax(0, hd_perf_time(e, class_id)); /* NAN, an unknown time, becomes 0 */
	return 0;
}

void hd_codelet_free(heddle_codelet *c)
{
	for (size_t i = 0; i < c->n_choices; i++) {
		free(c->choices[i].kind);
		free(c->choices[i].model_name);
	}
	free(c->choices);
	free((char *)(uintptr_t)c->desc.name);
	free((int *)(uintptr_t)c->desc.modes);
	for (size_t i = 0; i < c->desc.n_subgraphs; i++)
		free((char *)(uintptr_t)c->desc.subgraphs[i].name);
	free((struct heddle_subgraph *)(uintptr_t)c->desc.subgraphs);
	free(c->kinds);
	free(c->class_ok);
	free(c->kernels);
	free(c);
}

int heddle_codelet_create(heddle_runtime *rt, const struct heddle_codelet_desc *desc, heddle_codelet **out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "a codelet needs a runtime and a place for its handle");
	int status = check_desc(desc);
	if (!status)
		status = hd_check_process(rt);
	if (!status)
		status = check_kinds(rt, desc);
	if (status)
		return status;
	heddle_codelet *c = calloc(1, sizeof *c);
	if (!c)
		return hd_no_memory("a codelet");
	c->rt = rt;
	c->footprint_seed = hd_hash_string(desc->name);
	c->last_footprint = ~(uint64_t)0;
	c->typical_us = HUGE_VAL;
	status = copy_desc(c, desc);
	if (!status)
		status = resolve(rt, c, desc);
	hd_core_enter(rt);
	if (!status)
		status = hd_perf_model(rt->perf, &c->desc, &c->model);
	if (!status)
		status = open_choices(rt, c, desc);
	if (!status && rt->engine->times_are_given && (desc->event_time || platform_has_events(c)))
		status = make_event_model(c);
	if (!status) {
		c->id = rt->n_codelets++;
		c->anywhere = c->everywhere && !rt->dispatch.n_out;
		c->next = rt->codelets;
		rt->codelets = c;
	}
	hd_core_leave(rt);
	if (status)
		hd_codelet_free(c);
	else
		*out = c;
	return status;
}

int heddle_codelet_set_true_time(heddle_codelet *codelet,
                                 double (*true_time)(const struct heddle_size *size, unsigned class_id))
{
	if (!codelet)
		return hd_error(HEDDLE_E_INVALID, "heddle_codelet_set_true_time: codelet is NULL");
	hd_core_enter(codelet->rt);
	int used = codelet->last_entry != NULL;
	if (!used)
		codelet->true_time = true_time;
	hd_core_leave(codelet->rt);
	return used ? hd_error(
	                  HEDDLE_E_STATE,
	                  "heddle_codelet_set_true_time: a task of codelet %s was submitted before: call it earlier",
	                  codelet->desc.name)
	            : 0;
}

heddle_codelet *heddle_codelet_new_of(heddle_runtime *rt, const struct heddle_codelet_desc *desc)
{
	heddle_codelet *c = NULL;
	heddle_codelet_create(rt, desc, &c);
	return c;
}

const char *heddle_codelet_name(const heddle_codelet *c)
{
	return c ? c->desc.name : NULL;
}
