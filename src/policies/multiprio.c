/* multiprio: a heap of ready tasks per memory node, sorted by affinity, then criticality. A worker takes a task whose
 * data are near, unless it is better to leave the task to a faster class.
 *
 * Tayeb, Bramas, Faverge, Guermouche, "Dynamic tasks scheduling with multiple priorities on heterogeneous computing
 * systems", IPDPSW 2024.
 *
 *   ready  PUSH, Algorithm 1: into the heap of every node where it can run, with its gain (section V-A, equation 1) and
 *          its criticality NOD (V-B, equation 2); best_remaining_work of its best class grows by its time there
 *   pick   POP, Algorithm 2: of the first `n` tasks in the heap of the worker's node whose gain is within `epsilon` of
 *          the first one's, that with the largest LS_SDH^2 (V-C, equation 3). It is taken if pop_condition (V-D) holds,
 *          else evicted from this heap only; then the next, up to `max_tries` times
 *
 * critprio, a policy of Heddle, is multiprio with two other defaults: tasks are sorted by criticality first (`first`),
 * and pop_condition divides the best class's remaining work by its number of workers (`share`). The traces that say why
 * are in docs/policy-study.md. Data are prefetched only for the few tasks that a worker may hold, as the paper admits.
 *
 * Choices; docs/policy-study.md, "Where a paper can be read in two ways", has the reasons and figures. A task that is
 * taken subtracts the time that it has added, or delta(t, a) of the class that takes it (`accounting`). delta(t, a) is
 * the part of a worker's time that the task takes. The paper's workers are streams, of which GPUs have several: with
 * `stream=worker` delta(t, a) is the time of the task while all streams of the worker are busy. Gains are compared
 * exactly, or rounded up (`tie`). Criticality is NOD itself, not normalised. If several nodes run a task fastest,
 * pop_condition uses the least of their remaining works.
 * If a node has workers of several classes, it has a heap per class. delta is the model's prediction; while a model
 * needs samples, the task is only for the class that lacks samples (sample_placement.h). NOD counts all predecessors of
 * a successor, because the core does not remember on which classes the predecessors could run; two dependencies between
 * the same two tasks, through two data, count twice. A class as fast as the best class for a task counts as the best.
 * After `max_tries` evictions a worker stops, unless no task is running, because then no event would make it try again.
 * Entries of the best class are never evicted, so no task loses its last entry. Equal keys are ordered by submission.
 *
 * Cost: O(1) per class at push; a heap gets its entries when a worker looks for a task (class_heaps.h); O(n + log ready
 * tasks) at pop. When a task is taken, its entries in other heaps stay; they are removed when they come to the front,
 * or all at once when they are more than half of a heap. If there is no memory for the entries of a task, the task
 * waits in a queue into which all workers look last.
 * When the set of driven workers changes, gains and best classes change, too. Then all entries are dropped, and each
 * time a worker looks for a task, the entries of a few tasks (MULTIPRIO_SLICE) are made again. */
#include <math.h>
#include <stdlib.h>
#include "parts/class_heaps.h"
#include "parts/sample_placement.h"
#include "multiprio.h"
#include "parts/queue.h"
#include "policies.h"

enum { MULTIPRIO_WINDOW = HD_HEAP_FRONT, MULTIPRIO_REACH = 64, MULTIPRIO_SLICE = 32 };

struct multiprio_class {
	double time; /* us, of the task being pushed: delta(t, a); INFINITY: the class must not run the task */
	double nod;  /* of the task being pushed: equation 2, not normalised */
	double gain; /* of the task being pushed; NAN: the class must not run the task */
	double largest_difference, largest_nod; /* the largest so far; largest_difference: hd(a) of the paper */
	double streams, n_workers; /* streams of a worker that count as workers; the count of all driven ones */
	unsigned first_worker;
};

struct multiprio {
	heddle_sched *sched;
	struct hd_calibration calibration;
	unsigned n_workers, n_classes;
	struct multiprio_class *classes; /* owns */
	struct hd_class_heaps heaps;     /* h_m of the paper: the heap of one class on one node */
	struct hd_deque unfiled;         /* tasks without entries: out of memory, or no driven worker could run them */
	/* cluster_set: number of changes of the set of driven workers. After a change, the slots from old_slot to
	 * old_slots may have tasks without entries */
	uint32_t cluster_set, old_slot, old_slots;
	size_t window, max_tries;
	double epsilon;
	double tie; /* gains are rounded up to the next multiple of this; 0: gains are compared exactly */
	int share, eviction;
	int as_taken; /* 1: a task subtracts its time on the class that takes it; 0: the time that it has added */
	int criticality_first;   /* 1: keys compare criticality first, then gain; 0: gain first */
	uint64_t ready, running; /* numbers of tasks that are ready now and that run now */
	uint64_t decided;        /* number of tries in which the second score decided which task is first in the heap */
	uint64_t pushed, tries, evictions, refusals, local, elsewhere;
};

static void multiprio_destroy(void *state)
{
	struct multiprio *m = state;
	hd_class_heaps_fini(&m->heaps);
	hd_calibration_fini(&m->calibration);
	free(m->classes);
	free(m);
}

/* Counts the driven workers of each class, and finds the first of them. */
static void multiprio_count(struct multiprio *m)
{
	for (unsigned a = 0; a < m->n_classes; a++)
		m->classes[a].n_workers = 0;
	for (unsigned w = m->n_workers; w-- > 0;) {
		struct multiprio_class *c = &m->classes[m->heaps.heaps[m->heaps.heap_of[w]].class_id];
		int driven = heddle_sched_driven(m->sched, w);
		c->n_workers += driven * c->streams;
		if (driven || c->n_workers < 1)
			c->first_worker = w;
	}
}

static int multiprio_create(heddle_sched *sched, void **state)
{
	struct multiprio *m = calloc(1, sizeof *m);
	if (!m)
		return hd_no_memory("the policy's heaps");
	m->sched = sched;
	m->n_classes = (unsigned)heddle_sched_platform(sched)->n_classes;
	m->n_workers = (unsigned)heddle_sched_platform(sched)->n_workers;
	m->classes = calloc(m->n_classes, sizeof *m->classes);
	int status = hd_class_heaps_init(&m->heaps, sched);
	if (!status && !m->classes)
		status = hd_no_memory("the policy's heaps");
	if (status < 0) {
		multiprio_destroy(m);
		return status;
	}
	hd_calibration_init(&m->calibration, sched);
	m->window = (size_t)heddle_sched_option(sched, "n");
	m->epsilon = heddle_sched_option(sched, "epsilon");
	m->tie = heddle_sched_option(sched, "tie");
	m->max_tries = (size_t)heddle_sched_option(sched, "max_tries");
	m->as_taken = heddle_sched_option(sched, "accounting") > 0;
	m->share = heddle_sched_option(sched, "share") > 0;
	const struct heddle_class *of =
	    heddle_sched_option(sched, "stream") > 0 ? heddle_sched_platform(sched)->classes : NULL;
	for (unsigned a = 0; a < m->n_classes; a++)
		m->classes[a].streams = of ? fmax(of[a].streams, 1) : 1;
	multiprio_count(m);
	m->eviction = heddle_sched_option(sched, "eviction") > 0;
	m->criticality_first = heddle_sched_option(sched, "first") > 0;
	*state = m;
	return HEDDLE_OK;
}

/* --- Scores ------------------------------------------------------------------------------------------------------- */

/* can_exec(t, a) of the paper. First checks the class's first worker, because this is cheap and usually sufficient. */
static int multiprio_enabled(const struct multiprio *m, unsigned a, const heddle_task *t)
{
	return heddle_task_can_run(t, m->classes[a].first_worker) || heddle_task_can_run_class(t, a);
}

/* delta(t, a) of the paper. */
static double multiprio_time(const struct multiprio *m, const heddle_task *t, unsigned a)
{
	return heddle_task_time(t, a) * m->classes[a].streams;
}

/* Sets the `time` of each class, which is delta(t, a) of the paper; returns the fastest class. */
static unsigned multiprio_times(struct multiprio *m, const heddle_task *t)
{
	int lacking = hd_calibration_class(&m->calibration, t);
	unsigned known = 0, fastest = 0;
	for (unsigned a = 0; a < m->n_classes; a++) {
		int enabled = lacking < 0 ? multiprio_enabled(m, a, t) : a == (unsigned)lacking;
		m->classes[a].time = enabled ? multiprio_time(m, t, a) : INFINITY;
		known += isfinite(m->classes[a].time) != 0;
	}
	for (unsigned a = 0; a < m->n_classes; a++) {
		double *time = &m->classes[a].time;
		if (isnan(*time))
			*time = known ? INFINITY : 0; /* without any prediction, all classes count as equal */
		if (*time < m->classes[fastest].time)
			fastest = a;
	}
	return fastest;
}

/* The gain of class `a`: equation 1 of the paper. */
static double multiprio_gain(struct multiprio *m, unsigned a, unsigned fastest)
{
	double other = INFINITY;
	for (unsigned b = 0; b < m->n_classes; b++)
		if (b != a && (a == fastest || b == fastest) && m->classes[b].time < other)
			other = m->classes[b].time;
	if (isinf(other))
		return 1;
	double difference = other - m->classes[a].time, *largest = &m->classes[a].largest_difference;
	*largest = fmax(*largest, fabs(difference));
	return *largest > 0 ? (difference + *largest) / (2 * *largest) : 0.5;
}

static void multiprio_released(heddle_task *successor, unsigned n_predecessors, void *arg)
{
	struct multiprio *m = arg;
	for (unsigned a = 0; a < m->n_classes; a++)
		if (m->n_classes == 1 || multiprio_enabled(m, a, successor))
			m->classes[a].nod += 1.0 / n_predecessors;
}

static uint64_t multiprio_key(const struct multiprio *m, double gain, double nod)
{
	if (m->tie > 0)
		gain = m->tie * nearbyint(gain / m->tie);
	return m->criticality_first ? hd_heap_key(nod, gain) : hd_heap_key(gain, nod);
}

struct hd_multiprio_scores hd_multiprio_scores(const void *state, unsigned class_id)
{
	const struct multiprio_class *c = &((const struct multiprio *)state)->classes[class_id];
	return (struct hd_multiprio_scores){.gain = c->gain, .nod = c->nod, .largest_nod = c->largest_nod};
}

struct hd_multiprio_room hd_multiprio_room(const void *state, unsigned heap)
{
	const struct multiprio *m = state;
	return (struct hd_multiprio_room){.n_slots = m->heaps.slots.n,
	                                  .n_entries = hd_heap_n(&m->heaps.heaps[heap].heap)};
}

/* LS_SDH^2, equation 3 of the paper: how much of the task's data lies on the node. */
static double multiprio_locality(const heddle_task *t, unsigned node)
{
	double sum = 0;
	for (size_t i = 0, n = heddle_task_n_data(t); i < n; i++) {
		const heddle_data *d = heddle_task_data(t, i);
		if (!heddle_data_valid_on(d, node))
			continue;
		double bytes = (double)heddle_data_bytes(d);
		sum += heddle_task_mode(t, i) & (HEDDLE_W | HEDDLE_COMMUTE) ? bytes * bytes : bytes;
	}
	return sum;
}

/* Whether all workers may find a task: while tasks are still to get their entries, or wait in the queue for all
 * workers. */
static int multiprio_for_all(const struct multiprio *m)
{
	return m->unfiled.first || m->old_slot < m->old_slots;
}

/* --- Algorithm 1: PUSH -------------------------------------------------------------------------------------------- */

static void multiprio_insert(struct multiprio *m, heddle_task *t, uint32_t slot, unsigned fastest)
{
	struct hd_heap_entry entry = {.order = heddle_task_order(t), .slot = slot};
	for (unsigned a = 0; a < m->n_classes; a++)
		m->classes[a].nod = 0;
	heddle_task_successors(t, 0, multiprio_released, m);
	for (unsigned a = 0; a < m->n_classes; a++) {
		struct multiprio_class *c = &m->classes[a];
		c->gain = isinf(c->time) ? NAN : multiprio_gain(m, a, fastest);
		if (isnan(c->gain))
			continue;
		c->largest_nod = fmax(c->largest_nod, c->nod);
		entry.key = multiprio_key(m, c->gain, c->nod);
		int all = heddle_task_can_run_all(t, a);
		if (!all)
			continue;
		hd_class_heaps_add(&m->heaps, a, &entry, all < 0);
		if (a == fastest)
			hd_class_heaps_add_work(&m->heaps, a, t, m->heaps.slots.all[slot].work);
	}
}

/* Fills the slot, and makes an entry for each class whose workers may run the task; there must be room. */
static void multiprio_file(struct multiprio *m, heddle_task *t, uint32_t slot)
{
	unsigned fastest = multiprio_times(m, t);
	struct multiprio_class *best = &m->classes[fastest];
	m->heaps.slots.all[slot] = (struct hd_ready_slot){.task = t,
	                                                  .order = heddle_task_order(t),
	                                                  .best_time = best->time,
	                                                  .best_class = fastest,
	                                                  .work = llround(best->time * 1000),
	                                                  .cluster_set = m->cluster_set};
	multiprio_insert(m, t, slot, fastest);
}

static void multiprio_push(struct multiprio *m, heddle_task *t)
{
	uint32_t slot = hd_class_heaps_reserve(&m->heaps) ? hd_slots_take(&m->heaps.slots) : HD_NO_SLOT;
	m->ready++;
	m->pushed++;
	if (slot == HD_NO_SLOT)
		hd_deque_push_back(&m->unfiled, t);
	else
		multiprio_file(m, t, slot);
}

/* Whether some driven worker can run the task. */
static int multiprio_has_class(const struct multiprio *m, const heddle_task *t)
{
	for (unsigned a = 0; a < m->n_classes; a++)
		if (multiprio_enabled(m, a, t))
			return 1;
	return 0;
}

/* Makes the entries of a few tasks whose entries were dropped when the set of driven workers changed. */
static void multiprio_refile(struct multiprio *m)
{
	for (int n = 0; n < MULTIPRIO_SLICE && m->old_slot < m->old_slots; m->old_slot++) {
		const struct hd_ready_slot *s = &m->heaps.slots.all[m->old_slot];
		heddle_task *t = s->task;
		if (!t || s->cluster_set == m->cluster_set)
			continue;
		n++;
		if (multiprio_has_class(m, t) && hd_class_heaps_reserve(&m->heaps)) {
			multiprio_file(m, t, m->old_slot);
		} else {
			hd_slots_free(&m->heaps.slots, m->old_slot);
			hd_deque_push_back(&m->unfiled, t);
		}
	}
}

static void multiprio_changed(void *state)
{
	struct multiprio *m = state;
	multiprio_count(m);
	m->cluster_set++;
	m->old_slot = 0;
	m->old_slots = m->heaps.slots.n;
	hd_class_heaps_clear(&m->heaps);
	hd_class_heaps_open_all(&m->heaps, multiprio_for_all(m));
}

static void multiprio_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct multiprio *m = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++)
		multiprio_push(m, batch[i]);
	hd_class_heaps_open_all(&m->heaps, multiprio_for_all(m));
}

/* --- Algorithm 2: POP --------------------------------------------------------------------------------------------- */

/* get_most_local_prio_task of the paper: returns the place of the task; SIZE_MAX: there is no task for this worker.
 * Compares the first `window` entries whose tasks are still ready; if this worker can run none of these tasks, goes on
 * to later entries. */
static size_t multiprio_most_local(struct multiprio *m, const struct hd_class_heap *h, unsigned worker)
{
	size_t first = SIZE_MAX, chosen = SIZE_MAX, seen = 0;
	double most = -1, top = 0;
	double range = m->criticality_first ? m->classes[h->class_id].largest_nod : 1; /* range of the first score */
	struct hd_heap_walk walk;
	hd_heap_walk_init(&walk, &h->heap);
	for (size_t i; (seen < m->window || chosen == SIZE_MAX) && (i = hd_heap_walk_next(&walk)) != SIZE_MAX;) {
		const struct hd_heap_entry *e = hd_heap_at(&h->heap, i);
		double score = hd_heap_first_score(e->key);
		if (chosen != SIZE_MAX && top - score > m->epsilon * range)
			break;
		if (seen++ >= m->window && !hd_class_heaps_has(&m->heaps, e))
			continue;
		const heddle_task *t = m->heaps.slots.all[e->slot].task;
		double locality = m->window > 1 ? multiprio_locality(t, h->node) : 0;
		if (!(locality > most) || !heddle_task_can_run(t, worker))
			continue;
		if (first == SIZE_MAX) {
			first = i;
			top = score;
		}
		most = locality;
		chosen = i;
	}
	m->local += chosen != first;
	return chosen;
}

/* pop_condition of the paper, section V-D: whether the class may take the task; if not, a faster class will. */
static int multiprio_pop_condition(const struct multiprio *m, const struct hd_ready_slot *s, unsigned class_id)
{
	if (!m->eviction || class_id == s->best_class)
		return 1;
	double us = multiprio_time(m, s->task, class_id), workers = m->share ? m->classes[s->best_class].n_workers : 1;
	return !(us > s->best_time) || hd_class_heaps_least_work(&m->heaps, s->best_class, s->task) / workers > us;
}

/* Subtracts a task that the class takes from the remaining work of the nodes to which its push has added it. */
static void multiprio_subtract(struct multiprio *m, const struct hd_ready_slot *s, unsigned class_id)
{
	double us = m->as_taken ? multiprio_time(m, s->task, class_id) : NAN;
	hd_class_heaps_add_work(&m->heaps, s->best_class, s->task, isnan(us) ? -s->work : -llround(us * 1000));
}

static heddle_task *multiprio_take(struct multiprio *m, struct hd_class_heap *h, size_t place)
{
	uint32_t slot = hd_heap_at(&h->heap, place)->slot;
	struct hd_ready_slot *s = &m->heaps.slots.all[slot];
	heddle_task *t = s->task;
	hd_heap_remove(&h->heap, place);
	multiprio_subtract(m, s, h->class_id);
	m->elsewhere += h->class_id != s->best_class;
	hd_class_heaps_taken(&m->heaps, slot, multiprio_for_all(m));
	hd_calibration_placed(&m->calibration, t, h->class_id);
	return t;
}

/* Whether the first two entries have equal first scores and different second scores. */
static unsigned multiprio_second_decides(const struct hd_heap *heap)
{
	if (heap->n_front < 2)
		return 0;
	uint64_t first = heap->front[0].key, next = heap->front[1].key;
	return first != next && hd_heap_first_score(first) <= hd_heap_first_score(next);
}

static heddle_task *multiprio_pop(struct multiprio *m, unsigned worker)
{
	struct hd_class_heap *h = &m->heaps.heaps[m->heaps.heap_of[worker]];
	heddle_task *taken = NULL;
	size_t tries = 0;
	hd_class_heaps_read(&m->heaps, h);
	if (!hd_heap_n(&h->heap))
		return NULL; /* the usual end, because idle workers are asked after every event */
	for (; !taken && (tries < m->max_tries || !m->running); tries++) {
		m->heaps.gone += hd_heap_tidy(&h->heap, m->window, hd_class_heaps_has, &m->heaps);
		size_t place = multiprio_most_local(m, h, worker);
		if (place == SIZE_MAX)
			break;
		m->tries++;
		m->decided += multiprio_second_decides(&h->heap);
		if (multiprio_pop_condition(m, &m->heaps.slots.all[hd_heap_at(&h->heap, place)->slot], h->class_id)) {
			taken = multiprio_take(m, h, place);
		} else {
			m->evictions++;
			hd_heap_remove(&h->heap, place);
		}
	}
	m->refusals += !taken && tries >= m->max_tries;
	return taken;
}

static heddle_task *multiprio_unfiled(struct multiprio *m, unsigned worker)
{
	heddle_task *t = m->unfiled.first;
	for (int i = 0; t && !heddle_task_can_run(t, worker); i++)
		t = i < MULTIPRIO_REACH ? heddle_task_link(t)->next : NULL;
	if (t)
		hd_deque_remove(&m->unfiled, t);
	return t;
}

static heddle_task *multiprio_pick(void *state, unsigned worker)
{
	struct multiprio *m = state;
	heddle_task *t = NULL;
	do {
		if (HD_UNLIKELY(m->old_slot < m->old_slots))
			multiprio_refile(m);
		t = multiprio_pop(m, worker);
	} while (HD_UNLIKELY(!t && m->old_slot < m->old_slots));
	if (!t && m->unfiled.first)
		t = multiprio_unfiled(m, worker);
	m->ready -= t != NULL;
	m->running += t != NULL;
	hd_class_heaps_open(&m->heaps, m->heaps.heap_of[worker], multiprio_for_all(m));
	return t;
}

static void multiprio_done(void *state, heddle_task *task, unsigned worker)
{
	struct multiprio *m = state;
	m->running--;
	hd_calibration_done(&m->calibration, task, m->heaps.heaps[m->heaps.heap_of[worker]].class_id);
}

static void multiprio_report(void *state, heddle_sched *sched)
{
	const struct multiprio *m = state;
	heddle_sched_count(sched, "tasks pushed", (double)m->pushed, "tasks");
	heddle_sched_count(sched, "tries", (double)m->tries, "tries");
	heddle_sched_count(sched, "tries whose first task the second score decides", (double)m->decided, "tries");
	heddle_sched_count(sched, "evictions", (double)m->evictions, "entries");
	heddle_sched_count(sched, "picks given up after too many tries", (double)m->refusals, "picks");
	heddle_sched_count(sched, "tries of a task nearer to its data than the first", (double)m->local, "tries");
	heddle_sched_count(sched, "taken by a class that is not the best", (double)m->elsewhere, "tasks");
	heddle_sched_count(sched, "entries dropped because their task was gone", (double)m->heaps.gone, "entries");
	heddle_sched_count(sched, "heaps compacted", (double)m->heaps.compactions, "times");
	heddle_sched_report(sched, "best remaining work left", hd_class_heaps_largest_work(&m->heaps), "us");
}

/* clang-format off */
#define MULTIPRIO_OPTIONS(share, first) \
	{"n", "10", "tasks", "tasks of a heap among which the one nearest to its data is tried", 1, MULTIPRIO_WINDOW}, \
	{"epsilon", "0.8", "", "how much less than the first one's their first score may be", 0, 1}, \
	{"tie", "0", "", "gains count as the next multiple of this, so that near ones tie; 0: as they are", 0, 1}, \
	{"max_tries", "10", "tries", "tasks that a worker may evict before it gives up until something happens", \
	 1, 1e9}, \
	{"share", share, "no|yes", \
	 "a slower class waits for the best one's remaining work per worker, not for all of it", 0, 0}, \
	{"accounting", "pushed", "pushed|taken", "what a taken task subtracts from the remaining work: " \
	 "what it added, or its time on the class that takes it", 0, 0}, \
	{"stream", "part", "part|worker", "a stream of an accelerator is a part of its worker, or a worker, " \
	 "on which tasks take longer beside others", 0, 0}, \
	{"eviction", "yes", "no|yes", \
	 "a class that is not the best leaves tasks alone while the best has little to do", 0, 0}, \
	{"first", first, "gain|criticality", "the score that tasks are ordered by; the other breaks ties", 0, 0}, \
	{0}
/* clang-format on */

static const struct heddle_option multiprio_options[] = {MULTIPRIO_OPTIONS("no", "gain")};
static const struct heddle_option critprio_options[] = {MULTIPRIO_OPTIONS("yes", "criticality")};

#define MULTIPRIO_POLICY                                                                                              \
	.abi = HEDDLE_POLICY_ABI, .create = multiprio_create, .destroy = multiprio_destroy, .ready = multiprio_ready, \
	.pick = multiprio_pick, .done = multiprio_done, .report = multiprio_report, .changed = multiprio_changed

const struct heddle_policy hd_policy_multiprio = {
    MULTIPRIO_POLICY,
    .name = "multiprio",
    .summary =
        "a heap per memory node, by gain and criticality; near the data; slower classes only help when there is enough",
    .source = "Tayeb et al., IPDPSW 2024, Algorithms 1 and 2, equations 1 to 3",
    .options = multiprio_options,
};

const struct heddle_policy hd_policy_critprio = {
    MULTIPRIO_POLICY,
    .name = "critprio",
    .summary = "multiprio by criticality and gain: what releases most first; slower classes help when the best has too "
               "much each",
    .source = "Heddle, after Tayeb et al., IPDPSW 2024 (docs/policies.md)",
    .options = critprio_options,
};
