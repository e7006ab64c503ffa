/* Plans: a plan is a way of splitting a datum into children. The program creates and ends plans here; layout.c moves
 * the value between the datum and the children when tasks use them. A partition is a plan whose datum the program may
 * not use while the plan exists. */
#include "plan.h"
#include <stdlib.h>
#include "acquire.h"
#include "errands.h"
#include "expand.h"
#include "register.h"
#include "submit.h"
#include "task_life.h"
#include "graph/tree_chains.h"
#include "memory/windows.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "state/process.h"
#include "state/task_make.h"
#include "state/task_pool.h"
#include "state/tree.h"

/* --- Creating a plan ---------------------------------------------------------------------------------------------- */

/* Creates the handle of one child, which has no memory yet. */
static int make_child(heddle_plan *plan, const struct heddle_part *whole, size_t i)
{
	const struct hd_window *w = &plan->windows[i];
	heddle_data *d = plan->data, *child;
	struct heddle_part part = *whole;
	for (unsigned dim = 0; dim < part.n_dims; dim++)
		part.n[dim] = w->n[dim];
	part.base = NULL;
	int status = hd_data_create(d->rt, &part, 1, plan, &child);
	if (status)
		return status;
	/* the child is in the runtime's list of data already, so heddle_selfcheck may be reading it */
	hd_core_enter(d->rt);
	child->read_only = (uint8_t)(w->shared || d->read_only);
	hd_data_deepen(child);
	hd_replica_set_valid(&child->replicas[0], 0);
	plan->children[i] = child;
	if (d->rt->recorder)
		hd_record_child(d->rt->recorder, child, w);
	hd_core_leave(d->rt);
	return 0;
}

static heddle_task *make_task(heddle_runtime *rt, size_t n_children)
{
	hd_core_enter(rt);
	heddle_task *t = hd_control_make(rt, HD_TASK_PARTITION, 1 + n_children);
	hd_core_leave(rt);
	return t;
}

/* Frees a plan with its children, which no task uses. Called with the core lock. */
static void free_plan(heddle_plan *plan)
{
	heddle_runtime *rt = plan->data->rt;
	HD_HELD(&rt->lock);
	for (size_t i = 0; plan->children && i < plan->n_children; i++)
		if (plan->children[i])
			hd_data_destroy(plan->children[i]);
	if (plan->task)
		hd_task_unref(rt, plan->task);
	free(plan->children);
	free(plan->windows);
	free(plan);
}

/* Fills a plan. On error, the plan has only some of its children. */
static int fill_plan(heddle_plan *plan, const struct heddle_filter *f)
{
	heddle_data *d = plan->data;
	/* d->part may be changing: a step of the layout of the plan to which the datum belongs sets it */
	hd_core_enter(d->rt);
	const struct heddle_part part = d->part;
	hd_core_leave(d->rt);
	int status = 0;
	plan->windows = hd_filter_windows(&part, f, &plan->n_children, &status);
	if (!plan->windows)
		return status;
	plan->children = calloc(plan->n_children, sizeof(heddle_data *));
	if (!plan->children)
		return hd_no_memory("children");
	plan->task = make_task(d->rt, plan->n_children);
	if (!plan->task)
		return HEDDLE_E_MEMORY;
	uint64_t bytes = 0;
	for (size_t i = 0; i < plan->n_children && !status; i++) {
		status = make_child(plan, &part, i);
		bytes += status ? 0 : plan->children[i]->bytes;
		plan->irregular |= plan->windows[i].shared != 0;
	}
	plan->irregular |= bytes != d->bytes;
	return status;
}

static uint32_t depth_of(const heddle_plan *p)
{
	return p ? p->depth : 0;
}

/* The value of `far` for a plan right below `p`, which may be NULL: a skip link. If the two skip links that follow `p`
 * are equally long, the new link spans both; otherwise it leads to `p`. */
static heddle_plan *far_above(heddle_plan *p)
{
	heddle_plan *once = p ? p->far : NULL, *twice = once ? once->far : NULL;
	return depth_of(p) - depth_of(once) == depth_of(once) - depth_of(twice) ? twice : p;
}

/* Creates a plan that is not yet in the datum's list. NULL, with *status: an error. */
static heddle_plan *make_plan(heddle_data *d, const struct heddle_filter *f, int *status)
{
	heddle_plan *plan = calloc(1, sizeof *plan);
	if (!plan) {
		*status = hd_no_memory("a plan");
		return NULL;
	}
	plan->data = d;
	plan->root = d->plan ? d->plan->root : d;
	plan->depth = hd_data_depth(d) + 1;
	plan->far = far_above(d->plan);
	*status = fill_plan(plan, f);
	if (!*status)
		return plan;
	hd_core_enter(d->rt);
	free_plan(plan);
	hd_core_leave(d->rt);
	return NULL;
}

static void close_plan(heddle_plan *plan);

/* Adds the plan to its datum, if the datum is open. A sub-graph may also plan data of its hierarchical task that are
 * closed: this does not affect tasks outside. Called with the core lock. */
static int adopt(heddle_plan *plan, int partition, const char *what)
{
	heddle_data *d = plan->data;
	HD_HELD(&d->rt->lock);
	enum hd_closed closed = hd_data_closed(d);
	/* A sub-graph may use a datum of its hierarchical task that the program has already unregistered: the
	 * UNREGISTER task comes after the hierarchical task. */
	int may = !partition && (closed == HD_OPEN || hd_expansion_cover(d->rt, d));
	int status = may ? 0 : hd_data_check_open(d, what);
	struct hd_data_extra *extra = status ? NULL : hd_data_extra(d);
	if (!extra)
		return status ? status : HEDDLE_E_MEMORY;
	if (extra->n_unordered)
		return hd_error(HEDDLE_E_STATE, "%s: tasks use the datum unordered, and have not ended", what);
	size_t size = sizeof *extra->layout + d->rt->n_nodes * sizeof *extra->layout->n_windows;
	if (!extra->layout && !(extra->layout = calloc(1, size)))
		return hd_no_memory("a plan");
	plan->number = extra->layout->n_made++;
	plan->next = extra->layout->plans;
	extra->layout->plans = plan;
	hd_chain_deepen(d);
	hd_plan_place(plan);
	if (closed == HD_UNREGISTERED)
		close_plan(plan);
	return 0;
}

static int check(heddle_data *d, const struct heddle_filter *filter, const char *what)
{
	if (!d || !filter)
		return hd_error(HEDDLE_E_INVALID, "%s needs a datum and a filter", what);
	int status = hd_data_check(d, what);
	if (!status && !hd_expansion_cover(d->rt, d))
		/* a first check without the core lock, which avoids work; adopt() checks again under the lock */
		status = hd_data_is_plain(d) || hd_data_closed(d) == HD_OPEN ? 0 : hd_data_check_open_unlocked(d, what);
	return status ? status : hd_filter_check(d, filter);
}

/* Creates a plan and adds it to its datum. Without `out` the plan is a partition: the datum is closed, and another
 * thread may end the plan as soon as the core lock is released. */
static int create(heddle_data *d, const struct heddle_filter *filter, heddle_plan **out, size_t *n_children)
{
	int partition = !out;
	const char *what = partition ? "heddle_partition" : "heddle_plan_create";
	int status = check(d, filter, what);
	heddle_runtime *rt = status ? NULL : d->rt;
	heddle_plan *plan = status ? NULL : make_plan(d, filter, &status);
	if (!plan)
		return status;
	size_t n = plan->n_children;
	hd_core_enter(rt);
	if (partition)
		hd_control_begin(rt);
	else if (d->extra && d->extra->unordered)
		hd_control_begin_now(rt); /* adopt asks for the tasks in the graph */
	status = adopt(plan, partition, what);
	if (status) {
		free_plan(plan);
	} else if (partition) {
		d->extra->partition = plan;
		hd_data_close(d, HD_PARTITIONED);
	}
	hd_core_leave(rt);
	if (!status && out)
		*out = plan;
	if (!status && n_children)
		*n_children = n;
	return status;
}

int heddle_plan_create(heddle_data *data, const struct heddle_filter *filter, heddle_plan **out)
{
	return out ? create(data, filter, out, NULL)
	           : hd_error(HEDDLE_E_INVALID, "heddle_plan_create needs a place for the plan");
}

size_t heddle_plan_size(const heddle_plan *plan)
{
	return plan ? plan->n_children : 0;
}

heddle_data *heddle_plan_child(const heddle_plan *plan, size_t i)
{
	if (plan && i < plan->n_children)
		return plan->children[i];
	hd_error(HEDDLE_E_INVALID, plan ? "there is no child %zu" : "no plan: no child %zu", i);
	return NULL;
}

/* --- The end of a plan -------------------------------------------------------------------------------------------- */

static void close_plan(heddle_plan *plan)
{
	plan->ending = 1;
	for (size_t i = 0; i < plan->n_children; i++) {
		hd_data_close(plan->children[i], HD_UNREGISTERED);
		hd_plans_close(plan->children[i]);
	}
}

void hd_plans_close(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	for (heddle_plan *p = hd_data_plans(d); p; p = p->next)
		close_plan(p);
}

/* Opens the children again after they were closed with the datum, unless the program has ended the plan. */
static void open_plan(heddle_plan *plan)
{
	if (plan->end)
		return;
	plan->ending = 0;
	for (size_t i = 0; i < plan->n_children; i++) {
		heddle_data *child = plan->children[i];
		hd_data_close(child, child->extra && child->extra->partition ? HD_PARTITIONED : HD_OPEN);
		hd_plans_open(child);
	}
}

void hd_plans_open(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	for (heddle_plan *p = hd_data_plans(d); p; p = p->next)
		open_plan(p);
}

int hd_plans_drop(const heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	const heddle_plan *p = hd_data_plans(d);
	while (p && p->step != HD_DROP)
		p = p->next;
	return p != NULL;
}

void hd_plans_free(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	struct hd_layout *l = hd_data_layout(d);
	while (l && l->plans) {
		heddle_plan *plan = l->plans;
		l->plans = plan->next;
		free_plan(plan);
	}
}

static int is_held_below(const heddle_plan *plan)
{
	for (size_t i = 0; i < plan->n_children; i++)
		if (hd_data_is_held(plan->children[i]) || hd_data_child_is_held(plan->children[i]))
			return 1;
	return 0;
}

int hd_data_child_is_held(const heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	for (const heddle_plan *p = hd_data_plans(d); p; p = p->next)
		if (is_held_below(p))
			return 1;
	return 0;
}

/* Submits the control that ends the plan; it comes after all tasks that use the datum or its children. */
static int end(heddle_plan *plan, const char *what)
{
	heddle_data *d = plan->data;
	HD_HELD(&d->rt->lock);
	if (plan->ending)
		return hd_error(HEDDLE_E_STATE, "%s: the plan has been ended already, or its datum", what);
	heddle_task *t = hd_control_make(d->rt, HD_TASK_UNPLAN, 1);
	if (!t)
		return HEDDLE_E_MEMORY;
	hd_task_set_access(t, 0, d, HEDDLE_RW);
	close_plan(plan);
	if (d->extra->partition == plan) {
		d->extra->partition = NULL;
		hd_data_close(d, HD_OPEN);
	}
	plan->end = t;
	hd_control_enter(d->rt, t);
	return 0;
}

void hd_plan_end(heddle_task *t)
{
	heddle_data *d = t->accesses[0].data;
	heddle_plan **p = &d->extra->layout->plans;
	HD_HELD(&d->rt->lock);
	while ((*p)->end != t)
		p = &(*p)->next;
	heddle_plan *plan = *p;
	*p = plan->next;
	free_plan(plan);
	hd_core_end(d->rt, t, 0);
}

int heddle_plan_destroy(heddle_plan *plan)
{
	if (!plan)
		return hd_error(HEDDLE_E_INVALID, "heddle_plan_destroy needs a plan");
	heddle_runtime *rt = plan->data->rt;
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	hd_control_begin(rt);
	int status = plan->data->extra->partition == plan
	                 ? hd_error(HEDDLE_E_STATE, "heddle_plan_destroy: the plan is of heddle_partition")
	                 : end(plan, "heddle_plan_destroy");
	hd_core_leave(rt);
	return status;
}

/* --- Partitions --------------------------------------------------------------------------------------------------- */

int heddle_partition(heddle_data *d, const struct heddle_filter *filter, size_t *n_children)
{
	return create(d, filter, NULL, n_children);
}

heddle_data *heddle_child(heddle_data *d, size_t i)
{
	if (!d) {
		hd_error(HEDDLE_E_INVALID, "heddle_child needs a datum");
		return NULL;
	}
	if (hd_data_check(d, "heddle_child"))
		return NULL;
	hd_core_enter(d->rt); /* another thread may be calling heddle_unpartition, which frees the plan */
	const heddle_plan *plan = d->extra ? d->extra->partition : NULL;
	heddle_data *child = plan && i < plan->n_children ? plan->children[i] : NULL;
	hd_core_leave(d->rt);
	if (!child)
		hd_error(HEDDLE_E_INVALID,
		         plan ? "there is no child %zu" : "the datum is not partitioned: no child %zu", i);
	return child;
}

int hd_plan_is_split(const heddle_plan *plan)
{
	for (size_t i = 0; i < plan->n_children; i++)
		if (hd_data_closed(plan->children[i]) == HD_PARTITIONED)
			return 1;
	return 0;
}

static int unpartition(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	hd_control_begin(d->rt);
	if (hd_data_closed(d) != HD_PARTITIONED)
		return hd_error(HEDDLE_E_STATE, "heddle_unpartition: the datum is not partitioned");
	const heddle_plan *plan = d->extra->partition;
	for (size_t i = 0; i < plan->n_children; i++)
		if (hd_data_closed(plan->children[i]) == HD_PARTITIONED)
			return hd_error(HEDDLE_E_STATE, "heddle_unpartition: child %zu is still partitioned itself", i);
	return end(d->extra->partition, "heddle_unpartition");
}

int heddle_unpartition(heddle_data *d)
{
	if (!d)
		return hd_error(HEDDLE_E_INVALID, "heddle_unpartition needs a datum");
	int status = hd_data_check(d, "heddle_unpartition");
	if (status)
		return status;
	heddle_runtime *rt = d->rt;
	hd_core_enter(rt);
	status = unpartition(d);
	hd_core_leave(rt);
	return status;
}
