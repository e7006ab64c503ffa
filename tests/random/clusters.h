/* Random graphs on clusters: machines some of whose CPU workers have several cores, and kernels that use them. */
#ifndef RANDOM_CLUSTERS_H
#define RANDOM_CLUSTERS_H

#include <pthread.h>
#include "graphs_kernels.h"

/* --- Kernels ------------------------------------------------------------------------------------------------------ */

/* A thread's share of writing what the task writes. */
struct share {
	const struct work *work;
	const struct mem *mem;
	uint64_t sum;
	unsigned rank, ranks;
};

static void *write_share(void *arg)
{
	const struct share *s = arg;
	for (unsigned i = 0; i < s->work->n; i++) {
		size_t all = s->mem[i].m * s->mem[i].n;
		write_range(&s->mem[i], s->work->modes[i], s->sum, all * s->rank / s->ranks,
		            all * (s->rank + 1) / s->ranks);
	}
	return NULL;
}

/* work_kernel by all members of a team: each reads everything, then writes its share. */
static int work_together(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS];
	struct share share = {w, mem, 0, heddle_context_rank(c), heddle_context_cores(c)};
	int bad = share.rank ? 0 : begin_work(c, w);
	for (unsigned i = 0; i < w->n; i++)
		bad |= mem_of(c, i, &mem[i]);
	if (bad || share.rank >= share.ranks)
		return end_work(c, w, 1);
	share.sum = sum_of_read(w->k, w->n, w->modes, mem);
	int failed = heddle_context_barrier(c);
	write_share(&share);
	if (w->fails && share.rank == w->k % share.ranks)
		return end_work(c, w, 0);
	failed |= heddle_context_barrier(c) != w->fails;
	/* all have returned but rank 0, who waits for nobody */
	return share.rank ? failed
	       : w->fails ? 0
	                  : end_work(c, w, failed || was_disturbed(w->n, w->modes, mem, share.sum));
}

/* work_kernel by one thread of a team, which makes other threads write shares. */
static int work_forking(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS];
	struct share shares[8];
	pthread_t threads[8];
	unsigned n = heddle_context_cores(c);
	int bad = begin_work(c, w) || n > 8 || heddle_context_rank(c) || heddle_context_barrier(c);
	for (unsigned i = 0; i < w->n && !bad; i++)
		bad = mem_of(c, i, &mem[i]);
	if (bad)
		return end_work(c, w, 1);
	uint64_t sum = sum_of_read(w->k, w->n, w->modes, mem);
	for (unsigned i = 0; i < n; i++) {
		shares[i] = (struct share){w, mem, sum, i, n};
		if (i == 0 || pthread_create(&threads[i], NULL, write_share, &shares[i]))
			write_share(&shares[i]), threads[i] = pthread_self();
	}
	for (unsigned i = 1; i < n; i++)
		if (!pthread_equal(threads[i], pthread_self()))
			pthread_join(threads[i], NULL);
	return end_work(c, w, was_disturbed(w->n, w->modes, mem, sum));
}

static int zero_together(heddle_context *c)
{
	return heddle_context_rank(c) ? 0 : zero_kernel(c);
}

/* --- Machines ----------------------------------------------------------------------------------------------------- */

/* This machine, as if it had two to four CPU workers, of which the first has several cores and the last one. */
static int start_clusters(const struct heddle_config *config, struct hd_rng *rng, heddle_runtime **rt)
{
	static const unsigned sizes[] = {2, 3, 5};
	enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
	size_t n = 2 + below(rng, 3);
	struct heddle_platform *p = crowded_machine(n);
	struct heddle_class *classes = p ? realloc(p->classes, (p->n_classes + N_SIZES) * sizeof *classes) : NULL;
	int status = classes ? 0 : HEDDLE_E_MEMORY;
	if (classes)
		p->classes = classes;
	for (size_t i = 0; i < N_SIZES && !status; i++) {
		struct heddle_class *c = &classes[p->n_classes++];
		*c = classes[0];
		c->name = hd_format("cpu*%u", sizes[i]);
		c->kind = strdup("cpu");
		c->cores = sizes[i];
	}
	for (size_t w = 0; w + 1 < n && !status; w++)
		if (w == 0 || chance(rng, 0.4))
			p->workers[w].class_id = 1 + below(rng, N_SIZES);
	for (int i = 0; i < config->n_emulated && !status; i++)
		status = heddle_platform_add_emulated(p, config->emulated_memory, config->emulated_bandwidth,
		                                      config->emulated_latency, config->emulated_slowdown);
	if (!status)
		status = heddle_start_on(config, p, 0, rt);
	heddle_platform_free(p);
	return status;
}

/* Codelets that use clusters in the way number `how`: for any worker, for clusters only, and for single cores only.
 * Returns how many there are, 0 if one cannot be made. `reduction`: its first one, likewise. */
static unsigned make_cluster_codelets(heddle_runtime *rt, unsigned how, heddle_codelet **codelets,
                                      heddle_codelet **init)
{
	static const struct {
		heddle_kernel kernel;
		enum heddle_parallel parallel;
	} ways[] = {{work_together, HEDDLE_SPMD}, {work_forking, HEDDLE_FORK_JOIN}, {work_kernel, HEDDLE_SEQUENTIAL}};
	codelets[0] =
	    heddle_codelet_new(rt, .name = "any", .cpu = ways[how % 3].kernel, .parallel = ways[how % 3].parallel);
	codelets[1] = heddle_codelet_new(rt, .name = "cluster", .cpu = work_together, .parallel = HEDDLE_SPMD,
	                                 .min_cores = 2, .emulated = work_kernel);
	codelets[2] =
	    heddle_codelet_new(rt, .name = "single", .cpu = work_forking, .parallel = HEDDLE_FORK_JOIN, .max_cores = 1);
	codelets[3] = heddle_codelet_new(rt, .name = "sequential", .cpu = work_kernel);
	*init = heddle_codelet_new(rt, .name = "zero", .cpu = zero_together, .parallel = HEDDLE_SPMD);
	return codelets[0] && codelets[1] && codelets[2] && codelets[3] && *init ? 4 : 0;
}

#endif
