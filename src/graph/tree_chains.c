/* The access chains of deep data: handles that have a plan or belong to one, and data of hierarchical tasks.
 *
 * Such data are trees of handles. An access goes down from the root. At each handle above its own datum it is a *weak*
 * access, through the plan that leads to its datum: it waits for its turn in that handle's chain and, when it is
 * granted there, goes down to the chain of the next handle. At its own datum it is a *direct* access, as in other
 * chains. So an access waits in one queue at a time, and holds granted places at all handles above. It *changes* the
 * datum unless its mode is R or SCRATCH. Two accesses in one chain are compatible
 *
 *   - both direct: if both read, both commute or both reduce;
 *   - one direct, the other weak: if neither changes the datum;
 *   - both weak: if neither changes the datum, or both go through the same plan: their conflicts are resolved below.
 *
 * An access is granted if it is compatible with all accesses in force, if no access waits in front of it, and if the
 * layout of the datum suits it (graph/layout.c). The layout is changed for the first access that waits.
 *
 * A hierarchical task has a *marker* in the chain of each of its data. A marker needs no layout, and waits for direct
 * accesses only. A marker in force stays in the queue: accesses of the task's sub-graph are linked in front of it.
 * Behind a marker that changes the datum no access is granted; behind one that does not, only accesses that change
 * nothing. So the queue begins with markers in force, and other accesses may wait between them. */
#include "tree_chains.h"
#include "state/flow_calls.h"
#include "state/runtime.h"
#include "state/tree.h"
#include "chains.h"
#include "layout.h"

static int changes(const struct hd_access *a)
{
	return (a->flags & HD_ACCESS_CHANGES) != 0;
}

/* Whether `a` is a marker for the datum `d`. */
static int is_marker(const heddle_data *d, const struct hd_access *a)
{
	return (a->flags & HD_ACCESS_MARKER) && a->data == d;
}

struct hd_access *hd_chain_cover(const heddle_task *outer, const heddle_data *d)
{
	for (; d; d = hd_data_above(d))
		for (uint32_t i = 0; i < outer->n_accesses; i++)
			if (outer->accesses[i].data == d && !(outer->accesses[i].flags & HD_ACCESS_ALIAS))
				return (struct hd_access *)(uintptr_t)&outer->accesses[i];
	return NULL;
}

/* --- Turns -------------------------------------------------------------------------------------------------------- */

static int is_compatible_with_weak(const struct hd_layout *l, int changes, const heddle_plan *via)
{
	if (!l || !l->n_used || (!changes && !l->n_changing))
		return 1;
	return via && l->n_used == 1 && via->n_weak;
}

/* Whether a weak access or a marker is compatible with the direct accesses in force at the datum. */
static inline int suits_direct(const heddle_data *d, int changes)
{
	return !d->granted || (d->granted_mode == HEDDLE_R && !changes);
}

/* Whether a weak access through the plan is compatible with all accesses in force at the plan's datum. */
static int is_compatible_through(const heddle_plan *via, int changes)
{
	return suits_direct(via->data, changes) && is_compatible_with_weak(via->data->extra->layout, changes, via);
}

/* Whether the access is compatible with all accesses in force at `d`. */
static int is_compatible(heddle_data *d, const struct hd_access *a)
{
	if (a->data != d)
		return is_compatible_through(hd_data_towards(d, a->data)->plan, changes(a));
	if (is_marker(d, a))
		return suits_direct(d, changes(a));
	return (!d->granted || hd_modes_compatible(d->granted_mode, hd_chain_mode(a->mode))) &&
	       is_compatible_with_weak(hd_data_layout(d), changes(a), NULL);
}

/* Whether no access waits in the queue in front of `behind` (NULL: in the whole queue), and no marker there conflicts
 * with the access. */
static int is_first(const heddle_data *d, const struct hd_access *a, const struct hd_access *behind)
{
	for (const struct hd_access *m = d->queue; m != behind; m = m->next)
		if (!(m->flags & HD_ACCESS_IN_FORCE) || changes(m) || changes(a))
			return 0;
	return 1;
}

/* Like is_first, for an access `a` that will be put in front of the marker `behind`, or at the end of the queue (NULL).
 * It is enough to look at the access right before that place: if it is a marker in force and changes nothing, all
 * accesses in front of it only read. */
static inline int is_first_at(const heddle_data *d, const struct hd_access *a, const struct hd_access *behind)
{
	const struct hd_access *before = behind ? behind->before : d->queue ? d->queue_tail : NULL;
	return !before || ((before->flags & HD_ACCESS_IN_FORCE) && !changes(before) && !changes(a));
}

/* Whether `a` is granted at `d`. The caller has made sure that no access waits in front of `a`. */
static enum hd_turn turn_of(heddle_data *d, struct hd_access *a)
{
	if (!is_compatible(d, a))
		return HD_TURN_LATER;
	return is_marker(d, a) || !hd_data_layout(d) ? HD_TURN_NOW : hd_layout_admit(d, a);
}

/* Counts a weak access as in force at the plan's datum; `changes`: whether the access changes the elements below. */
static void pass(heddle_plan *via, int changes)
{
	struct hd_layout *l = via->data->extra->layout;
	l->n_changing += (uint32_t)changes;
	l->n_used += via->n_weak++ == 0;
}

/* Counts `a` among the accesses in force at `d`. */
static void take_place(heddle_data *d, struct hd_access *a)
{
	if (a->data == d)
		hd_chain_grant(a);
	else
		pass(hd_data_towards(d, a->data)->plan, changes(a));
}

/* --- The queue ---------------------------------------------------------------------------------------------------- */

/* Puts the access into the queue in front of the marker `behind`; NULL: at the end. */
static void enqueue(heddle_data *d, struct hd_access *a, struct hd_access *behind)
{
	struct hd_access *before = behind ? behind->before : d->queue ? d->queue_tail : NULL;
	a->next = behind;
	if (before)
		before->next = a;
	else
		d->queue = a;
	if (behind)
		behind->before = a;
	else
		d->queue_tail = a;
	if (is_marker(d, a)) {
		a->before = before;
	} else if (a->data != d) {
		a->at = d;
		a->flags |= HD_ACCESS_ABOVE;
	}
}

/* Removes `a` from the queue. `before`: the access in front of `a`; NULL: `a` is the first. */
static inline void dequeue(heddle_data *d, struct hd_access *a, struct hd_access *before)
{
	if (before)
		before->next = a->next;
	else
		d->queue = a->next;
	if (!a->next)
		d->queue_tail = before;
	else if (is_marker(d, a->next))
		a->next->before = before;
	a->next = NULL;
}

/* `a` has just come to the chain of `d`, to the place in front of `behind` (NULL: the end). Lets `a` go down from
 * handle to handle as far as it is granted. Returns 0 if `a` waits now; 1 if it waits no more: it has come to its own
 * datum, or it stops above its datum because its task is cancelled. */
static int go_down(heddle_data *d, struct hd_access *a, struct hd_access *behind)
{
	for (;; d = hd_data_towards(d, a->data), behind = NULL) {
		enum hd_turn turn = is_first_at(d, a, behind) ? turn_of(d, a) : HD_TURN_LATER;
		if (turn == HD_TURN_LATER || is_marker(d, a)) {
			enqueue(d, a, behind);
			a->flags |= turn == HD_TURN_LATER ? 0 : HD_ACCESS_IN_FORCE;
			d->n_waiting += turn == HD_TURN_LATER;
			return turn != HD_TURN_LATER;
		}
		take_place(d, a);
		if (a->data == d)
			return 1;
		if (turn == HD_TURN_STOP) {
			a->at = d;
			a->flags |= HD_ACCESS_ABOVE;
			return 1;
		}
	}
}

/* Grants the first waiting access at `d`, if possible. Returns 0 if this access goes on waiting, or no access waits. */
static inline int let_go(heddle_data *d)
{
	struct hd_access *before = NULL, *a = d->queue;
	for (; a && (a->flags & HD_ACCESS_IN_FORCE); before = a, a = a->next)
		if (changes(a))
			return 0;
	if (!a || (before && changes(a)))
		return 0;
	enum hd_turn turn = turn_of(d, a);
	if (turn == HD_TURN_LATER)
		return 0;
	int arrived = 1;
	d->n_waiting--;
	if (is_marker(d, a)) {
		a->flags |= HD_ACCESS_IN_FORCE;
	} else {
		dequeue(d, a, before);
		take_place(d, a);
		if (a->data != d && turn == HD_TURN_NOW) {
			a->flags &= ~HD_ACCESS_ABOVE & HD_ACCESS_FLAGS;
			a->at = NULL;
			arrived = go_down(hd_data_towards(d, a->data), a, NULL);
		}
	}
	heddle_task *t = hd_access_task(a);
	if (arrived && --t->pending == 0)
		hd_tell_ready(t);
	return 1;
}

int hd_chain_can_advance(heddle_data *d)
{
	const struct hd_access *a = d->n_waiting ? d->queue : NULL;
	while (a && (a->flags & HD_ACCESS_IN_FORCE))
		a = a->next;
	const struct hd_layout *l = hd_data_layout(d);
	return a && is_first(d, a, a) && is_compatible(d, a) && (is_marker(d, a) || !l || !l->n_steps);
}

void hd_chain_advance(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	while (d->n_waiting && let_go(d))
		continue;
}

/* --- In and out --------------------------------------------------------------------------------------------------- */

static __attribute__((cold)) void deepen(heddle_data *d)
{
	hd_data_deepen(d);
	d->n_waiting = 0;
	for (struct hd_access *a = d->queue; a; a = a->next, d->n_waiting++)
		a->flags |= hd_chain_mode(a->mode) == HEDDLE_R ? 0 : HD_ACCESS_CHANGES;
}

void hd_chain_deepen(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	if (HD_UNLIKELY(!d->deep))
		deepen(d);
}

/* The marker in front of which the access, which is not linked yet, must be linked; NULL: it is linked at the end of
 * its chain. `outer`: the hierarchical task around its task, or NULL. */
static struct hd_access *marker_for(const struct hd_access *a, const heddle_task *outer)
{
	if (!outer)
		return NULL;
	struct hd_access *m = a->cover ? a->cover : hd_chain_cover(outer, a->data);
	return m && (m->flags & HD_ACCESS_IN_FORCE) && (!changes(a) || changes(m)) ? m : NULL;
}

/* Whether an access to a child of the plan `via` is granted at once at the plan's datum, in front of `marker`, which is
 * in force there. The layout must suit the access. A marker that changes the datum must be the first in the queue, so
 * that no access waits in front of it; in front of others only reads wait, which a read may overtake. */
static inline int admits(const heddle_plan *via, int changes, const struct hd_access *marker)
{
	heddle_data *d = via->data;
	const struct hd_layout *l = d->extra->layout;
	if (l->scattered != via && (l->scattered || !via->active || changes || d->poisoned))
		return 0;
	if (HD_UNLIKELY(l->n_steps != 0) || (d->queue != marker && (marker->flags & HD_ACCESS_CHANGES)))
		return 0;
	int others = l->n_used != (via->n_weak != 0); /* accesses in force use other plans */
	if (HD_UNLIKELY(others && (changes || l->n_changing)) || HD_UNLIKELY(!suits_direct(d, changes)))
		return 0;
	if (changes && HD_UNLIKELY(d->poisoned))
		hd_layout_heal(d); /* because the child may get a value */
	return 1;
}

/* Notes whether the linked access waits: in n_preds of the access, and in `pending` of its task. */
static void wait(struct hd_access *a, int waits)
{
	a->n_preds = waits & 1;
	hd_access_task(a)->pending += (uint32_t)waits;
}

/* Whether `a` is no marker, `d` has no plans, and the chain of `d` has no marker in force. */
static inline int is_leaf(const heddle_data *d, const struct hd_access *a)
{
	return !hd_data_layout(d) && !(a->flags & HD_ACCESS_MARKER) &&
	       !(d->queue && (d->queue->flags & HD_ACCESS_IN_FORCE));
}

/* Links `a` to its own datum `d`, a leaf (is_leaf); `a` is granted at all handles above. A faster go_down. */
static inline void link_leaf(heddle_data *d, struct hd_access *a, unsigned mode)
{
	if (!d->queue && (!d->granted || hd_modes_compatible(d->granted_mode, mode))) {
		a->n_preds = 0;
		if (HD_UNLIKELY(d->poisoned)) {
			hd_chain_grant(a);
			return;
		}
		d->granted++;
		d->granted_mode = (uint8_t)mode;
		return;
	}
	hd_chain_append(d, a);
	d->n_waiting++;
	wait(a, 1);
}

/* Links the marker `a` at the end of the chain of its datum `d`, a root. Does what link_anywhere would do, faster. */
static inline void link_root_marker(heddle_data *d, struct hd_access *a)
{
	unsigned mode = hd_chain_mode(a->mode);
	int changes = mode != HEDDLE_R, waits = !suits_direct(d, changes);
	struct hd_access *before = d->queue ? d->queue_tail : NULL;
	if (before)
		waits |= changes || (before->flags & (HD_ACCESS_IN_FORCE | HD_ACCESS_CHANGES)) != HD_ACCESS_IN_FORCE;
	d->tail_mode = (uint8_t)mode;
	a->before = before;
	hd_chain_append(d, a);
	if (changes)
		a->flags |= HD_ACCESS_CHANGES;
	a->n_preds = 0;
	if (!waits) {
		a->flags |= HD_ACCESS_IN_FORCE;
		return;
	}
	d->n_waiting++;
	wait(a, 1);
}

int hd_chain_is_covered(const struct hd_access *a)
{
	return marker_for(a, hd_task_inside(hd_access_task(a))) != NULL;
}

/* Links `a` in front of `marker`; if `marker` is NULL, at the end of the chain. */
static __attribute__((noinline)) void link_anywhere(struct hd_access *a, struct hd_access *marker)
{
	heddle_data *d = marker ? marker->data : a->data, *above_marker;
	if (marker) {
		/* The marker is granted at each handle above its datum. So the access is granted there, too. */
		for (above_marker = d; above_marker->plan; above_marker = hd_data_above(above_marker))
			pass(above_marker->plan, changes(a));
	} else if (!(a->flags & HD_ACCESS_LOCAL)) {
		d->tail_mode = (uint8_t)hd_chain_mode(a->mode);
		while (hd_data_above(d))
			d = hd_data_above(d);
	}
	wait(a, !go_down(d, a, marker));
}

void hd_chain_link_deep(struct hd_access *a, const heddle_task *outer)
{
	HD_HELD(&a->data->rt->lock);
	hd_chain_deepen(a->data);
	if (hd_chain_mode(a->mode) != HEDDLE_R)
		a->flags |= HD_ACCESS_CHANGES;
	struct hd_access *marker = marker_for(a, outer);
	a->next = NULL;
	link_anywhere(a, marker);
}

void hd_chain_link_markers(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	for (struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++) {
		if (HD_UNLIKELY(a->flags & HD_ACCESS_ALIAS))
			continue;
		heddle_data *d = a->data;
		if (HD_UNLIKELY(!d->deep))
			deepen(d);
		if (HD_LIKELY(!d->plan))
			link_root_marker(d, a);
		else
			hd_chain_link_deep(a, NULL);
	}
}

/* Links `a`, an access to a child of the marker's datum, if `a` is granted at that datum at once; otherwise returns 0.
 * This is the usual case in a sub-graph, and needs less work than go_down. */
static inline int link_child(struct hd_access *a, const struct hd_access *marker)
{
	heddle_data *d = a->data;
	heddle_plan *via = d->plan;
	unsigned mode = hd_chain_mode(a->mode);
	int changes = mode != HEDDLE_R;
	if (!(marker->flags & HD_ACCESS_IN_FORCE) || !via || via->data != marker->data || !admits(via, changes, marker))
		return 0;
	if (changes)
		a->flags |= HD_ACCESS_CHANGES;
	a->next = NULL;
	pass(via, changes);
	while (HD_UNLIKELY((via = via->data->plan) != NULL))
		pass(via, changes);
	if (HD_LIKELY(is_leaf(d, a)))
		link_leaf(d, a, mode);
	else
		wait(a, !go_down(d, a, NULL));
	return 1;
}

void hd_chain_link_covered(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	/* The union of an alias holds `next`, the access that stands for the alias, instead of `cover`. That access is
	 * no marker, so link_child refuses the alias. */
	for (struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++)
		if (HD_UNLIKELY(!a->cover || !link_child(a, a->cover)) && !(a->flags & HD_ACCESS_ALIAS))
			hd_chain_link_deep(a, hd_task_inside(t));
}

/* Removes a marker in force from the queue. */
static inline void leave_queue(heddle_data *d, struct hd_access *a)
{
	a->flags &= ~HD_ACCESS_IN_FORCE & HD_ACCESS_FLAGS;
	dequeue(d, a, a->before);
	a->before = NULL;
}

/* Releases the place of the access at `d`. */
static void leave_place(heddle_data *d, struct hd_access *a)
{
	if (a->flags & HD_ACCESS_IN_FORCE && a->data == d) {
		leave_queue(d, a);
	} else if (a->data == d) {
		d->granted--;
	} else {
		struct hd_layout *l = hd_data_layout(d);
		l->n_changing -= (uint32_t)changes(a);
		l->n_used -= --hd_data_towards(d, a->data)->plan->n_weak == 0;
	}
}

void hd_chain_release_deep(struct hd_access *a)
{
	heddle_data *d = hd_access_place(a);
	HD_HELD(&d->rt->lock);
	for (heddle_data *next; d; d = next) {
		next = a->flags & HD_ACCESS_LOCAL ? NULL : hd_data_above(d);
		leave_place(d, a);
		if (d->n_waiting)
			hd_chain_advance(d);
	}
}

void hd_chain_release_markers(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	for (struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++) {
		heddle_data *d = a->data;
		if (HD_UNLIKELY(a->flags & HD_ACCESS_ALIAS))
			continue;
		if (HD_UNLIKELY(d->plan != NULL)) {
			hd_chain_release_deep(a);
			continue;
		}
		leave_queue(d, a);
		if (d->n_waiting)
			hd_chain_advance(d);
	}
}

void hd_chain_withdraw_deep(struct hd_access *a, struct hd_access *before)
{
	heddle_data *d = hd_access_place(a);
	HD_HELD(&d->rt->lock);
	dequeue(d, a, before);
	d->n_waiting--;
	if (a->flags & HD_ACCESS_ABOVE) {
		a->flags &= ~HD_ACCESS_ABOVE & HD_ACCESS_FLAGS;
		a->at = NULL;
	}
	hd_chain_advance(d);
	while ((d = hd_data_above(d))) { /* the access was granted at the handles above, so it has places there */
		leave_place(d, a);
		hd_chain_advance(d);
	}
}

void hd_chain_resolve(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	t->pending++; /* keeps `pending` above 0 until all markers are resolved */
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		int in_force = (a->flags & HD_ACCESS_IN_FORCE) != 0;
		a->flags &= ~(HD_ACCESS_MARKER | HD_ACCESS_IN_FORCE) & HD_ACCESS_FLAGS;
		if (!in_force)
			/* `a` is an alias, or a marker that stopped above its datum because the task was cancelled */
			continue;
		a->before = NULL;
		a->data->n_waiting++;
		t->pending++;
		hd_chain_advance(a->data);
	}
	if (--t->pending == 0)
		hd_tell_ready(t);
}
