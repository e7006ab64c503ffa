/* Random programs on workers with cores in common: the machine, what drives its workers, and the kernels. */
#ifndef RANDOM_CLUSTER_SETS_KERNELS_H
#define RANDOM_CLUSTER_SETS_KERNELS_H

#ifdef RANDOM_OPENMP
#include <omp.h>
#endif
#include <heddle/clusters.h>
#include "elements.h"
#include "support.h"

enum {
	MAX_CORES = 6,
	MAX_CPU = MAX_CORES + 6,
	N_DATA = 6,
	ELEMENTS = 12,
	MAX_ACCESS = 3,
	MAX_CHILDREN = 5,
	MAX_STEPS = 9
};

/* The machine of a seed. CPU worker w has the cores from first[w] on, n[w] of them. */
static struct {
	heddle_runtime *rt;
	/* wide: NULL without clusters */
	heddle_codelet *work, *on_cpu, *together, *forking, *wide, *tree, *parent, *child, *failing;
	heddle_group *failures; /* of the tasks that fail */
	unsigned n_cpu, first[MAX_CPU], n[MAX_CPU];
	int is_virtual, is_adaptive;
	char text[300];
} machine;

static atomic_int cores_in_use[MAX_CORES], n_clashes, n_failures, n_failed; /* n_failed: tasks that were to fail */
static char problem[500];

static int wrong(const char *what, int status)
{
	if (!problem[0])
		snprintf(problem, sizeof problem, "%s: %s: %s", what, heddle_status_name(status), heddle_last_error());
	return -1;
}

/* --- Cluster sets ------------------------------------------------------------------------------------------------- */

static int overlap(unsigned a, unsigned b)
{
	return machine.first[a] < machine.first[b] + machine.n[b] && machine.first[b] < machine.first[a] + machine.n[a];
}

/* Draws workers without common cores into `set`, `first` among them. Returns how many. */
static size_t draw_set(struct hd_rng *rng, unsigned first, unsigned *set)
{
	size_t n = 0;
	unsigned start = below(rng, machine.n_cpu);
	set[n++] = first;
	for (unsigned i = 0; i < machine.n_cpu; i++) {
		unsigned w = (start + i) % machine.n_cpu;
		size_t k = 0;
		while (k < n && set[k] != w && !overlap(set[k], w))
			k++;
		if (k == n && chance(rng, 0.8))
			set[n++] = w;
	}
	return n;
}

/* Drives a random set of workers, `first` among them. */
static int drive(uint64_t seed, unsigned first)
{
	struct hd_rng rng;
	unsigned set[MAX_CPU];
	if (machine.is_adaptive)
		return 0;
	hd_rng_seed(&rng, seed);
	size_t n = draw_set(&rng, first, set);
	int status = heddle_workers_drive(machine.rt, set, n);
	n_failures += status != 0;
	return status;
}

static int drive_any(uint64_t seed)
{
	return drive(seed, (unsigned)(hd_hash(seed, 7) % machine.n_cpu));
}

/* --- Kernels ------------------------------------------------------------------------------------------------------ */

/* The value of a task: what it does. */
struct orders {
	uint64_t k;
	unsigned n_steps; /* k, k + 1 ...: a hierarchical task divides them */
	unsigned n;
	int modes[MAX_ACCESS];
	int drives; /* its kernel changes the set of workers; a parent does so between submitting and waiting */
};

static void use_cores(unsigned w)
{
	for (unsigned i = 0; w < machine.n_cpu && i < machine.n[w]; i++)
		n_clashes += cores_in_use[machine.first[w] + i]++ != 0;
}

static void leave_cores(unsigned w)
{
	for (unsigned i = 0; w < machine.n_cpu && i < machine.n[w]; i++)
		cores_in_use[machine.first[w] + i]--;
}

static int compute_steps(const struct orders *o, const struct mem *mem)
{
	int status = 0;
	uint64_t sum;
	for (unsigned i = 0; i < o->n_steps && !status; i++)
		status = compute(o->k + i, o->n, o->modes, mem, &sum);
	return status;
}

static int work_kernel(heddle_context *c)
{
	const struct orders *o = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS];
	use_cores(heddle_context_worker(c));
	for (unsigned i = 0; i < o->n; i++)
		if (mem_of(c, i, &mem[i]))
			return 1;
	int status = compute_steps(o, mem);
	if (o->drives)
		drive_any(o->k);
	leave_cores(heddle_context_worker(c));
	return status;
}

/* work_kernel by all threads of a cluster: each writes a part of the elements. */
static int work_together(heddle_context *c)
{
	const struct orders *o = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS];
	unsigned rank = heddle_context_rank(c), n = heddle_context_cores(c);
	if (!rank)
		use_cores(heddle_context_worker(c));
	for (unsigned i = 0; i < o->n; i++)
		if (mem_of(c, i, &mem[i]))
			return 1;
	for (unsigned step = 0; step < o->n_steps; step++) {
		uint64_t sum = sum_of_read(o->k + step, o->n, o->modes, mem);
		if (heddle_context_barrier(c))
			return 1;
		for (unsigned i = 0; i < o->n; i++)
			write_range(&mem[i], o->modes[i], sum, ELEMENTS * rank / n, ELEMENTS * (rank + 1) / n);
		if (heddle_context_barrier(c))
			return 1;
	}
	if (!rank && o->drives)
		drive_any(o->k);
	if (!rank)
		leave_cores(heddle_context_worker(c));
	return 0;
}

/* A thread's share of writing what the task writes. */
struct share {
	const struct orders *orders;
	const struct mem *mem;
	uint64_t sum;
	unsigned rank, n;
};

static void *write_share(void *arg)
{
	const struct share *s = arg;
	for (unsigned i = 0; i < s->orders->n; i++)
		write_range(&s->mem[i], s->orders->modes[i], s->sum, ELEMENTS * s->rank / s->n,
		            ELEMENTS * (s->rank + 1) / s->n);
	return NULL;
}

/* Writes with n threads that the calling one makes: those of OpenMP, or POSIX ones, which sanitizers understand.
 * Returns whether that cannot be done. */
static int write_forked(const struct share *all)
{
#ifdef RANDOM_OPENMP
	int wrong = 0;
#pragma omp parallel reduction(| : wrong)
	{
		struct share s = *all;
		s.rank = (unsigned)omp_get_thread_num();
		wrong |= omp_get_num_threads() != (int)s.n;
		write_share(&s);
	}
	return wrong;
#else
	struct share shares[MAX_CORES];
	pthread_t threads[MAX_CORES];
	int wrong = 0;
	for (unsigned i = 0; i < all->n; i++) {
		shares[i] = *all;
		shares[i].rank = i;
		if (i && pthread_create(&threads[i], NULL, write_share, &shares[i]))
			wrong = 1, threads[i] = pthread_self();
	}
	write_share(&shares[0]);
	for (unsigned i = 1; i < all->n; i++)
		if (!pthread_equal(threads[i], pthread_self()))
			pthread_join(threads[i], NULL);
	return wrong;
#endif
}

/* work_kernel by one thread of a cluster, which makes other threads write parts of the elements. */
static int work_forking(heddle_context *c)
{
	const struct orders *o = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS];
	int status = 0;
	use_cores(heddle_context_worker(c));
	for (unsigned i = 0; i < o->n; i++)
		if (mem_of(c, i, &mem[i]))
			return 1;
	for (unsigned step = 0; step < o->n_steps && !status; step++) {
		struct share all = {o, mem, sum_of_read(o->k + step, o->n, o->modes, mem), 0, heddle_context_cores(c)};
		/* Nobody tells OpenMP how many threads an accelerator has. */
		status = heddle_context_worker(c) < machine.n_cpu ? write_forked(&all) : (write_share(&all), 0);
		if (o->drives && !step) /* its threads are used again by the next step */
			drive_any(o->k);
	}
	leave_cores(heddle_context_worker(c));
	return status ? heddle_fail(c, 1, "not so many threads as cores") : 0;
}

enum { TOLD = 7 };

/* One member fails; the others, which wait at a barrier for it, hear of it. */
static int fail_together(heddle_context *c)
{
	const struct orders *o = heddle_value_ptr(c, 0);
	unsigned rank = heddle_context_rank(c), n = heddle_context_cores(c);
	if (!rank)
		use_cores(heddle_context_worker(c));
	int before = heddle_context_barrier(c);
	if (!rank)
		leave_cores(heddle_context_worker(c));
	if (rank == o->k % n) {
		if (o->drives)
			drive_any(o->k);
		return heddle_fail(c, TOLD, "told to fail");
	}
	n_failures += before || !heddle_context_barrier(c);
	return 0;
}

static void note_failed(void *arg, int status)
{
	(void)arg;
	n_failed += status == HEDDLE_E_KERNEL;
}

/* Another task on the data of the hierarchical task, with some of its steps. */
static int submit_steps(heddle_context *c, const struct orders *whole, unsigned first, unsigned n_steps)
{
	struct orders o = *whole;
	struct heddle_item items[MAX_ACCESS + 3];
	heddle_codelet *leaves[] = {machine.work, machine.on_cpu, machine.together, machine.forking, machine.wide};
	heddle_codelet *leaf = leaves[hd_hash(o.k, first) % 5];
	size_t n = 0;
	o.k += first;
	o.n_steps = n_steps;
	items[n++] = heddle_call(n_steps > 1 ? machine.tree : leaf ? leaf : machine.work);
	items[n++] = heddle_value(o);
	items[n++] = heddle_priority((int)(o.k % 3));
	for (unsigned i = 0; i < o.n; i++)
		items[n++] = heddle_access((enum heddle_mode)o.modes[i], heddle_context_data(c, i));
	return heddle_submit_items(machine.rt, n, items);
}

/* The sub-graph of a task of several steps: the first half of them, the rest, and children that nothing waits for. */
static int divide_steps(heddle_context *c)
{
	const struct orders *o = heddle_value_ptr(c, 0);
	unsigned half = o->n_steps / 2;
	int status = half ? submit_steps(c, o, 0, half) : 0;
	for (uint64_t i = 0; i < o->k % 3 && !status; i++)
		status = heddle_submit(machine.rt, heddle_call(machine.child));
	if (o->drives)
		drive_any(o->k + 1);
	if (!status)
		status = submit_steps(c, o, half, o->n_steps - half);
	return status ? heddle_fail(c, 1, "%s", heddle_last_error()) : 0;
}

/* Whether a task is divided: by its number, which is the same in both runs in virtual time. */
static int is_divided(const heddle_task *task, void *arg)
{
	(void)arg;
	return hd_hash(heddle_task_order(task), 11) % 4 != 0;
}

static int child_kernel(heddle_context *c)
{
	use_cores(heddle_context_worker(c));
	sched_yield();
	leave_cores(heddle_context_worker(c));
	return 0;
}

static int parent_kernel(heddle_context *c)
{
	const struct orders *o = heddle_value_ptr(c, 0);
	unsigned w = heddle_context_worker(c);
	heddle_group *group;
	int status = heddle_group_create(machine.rt, &group);
	if (status)
		return 1;
	use_cores(w);
	for (uint64_t i = 0; i <= o->k % MAX_CHILDREN && !status; i++)
		status = heddle_submit(machine.rt, heddle_call(machine.child), heddle_in_group(group));
	if (o->drives)
		drive_any(o->k);
	leave_cores(w);
	if (!status)
		status = heddle_group_wait(group);
	use_cores(w);
	sched_yield();
	leave_cores(w);
	heddle_group_free(group);
	return status ? heddle_fail(c, 1, "%s", heddle_last_error()) : 0;
}

#endif
