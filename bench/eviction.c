/* Bytes moved when accelerators have little memory: what is evicted by next use against the least recently used, and
 * against a lower bound. In virtual time, with tiles of 960 x 960 in single precision.
 *
 * eviction PLATFORM cholesky|gemm|random TILES [POLICY,...] [each]
 *
 * The memories of all accelerators together hold 1/2, 1/4 and 1/8 of the data, or with `each` every single one of them.
 * One line of CSV for each policy, share and rule, in tiles of 960 x 960: see print_head.
 *
 * The bound is that of heddle_trace_memories, for the schedule that ran. What is written back is not in it, nor is the
 * second half of a copy that goes through main memory. The column compulsory has the same without limit of memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <heddle/graph.h>
#include <heddle/platform.h>
#include "good.h"

enum { TILE = 960 };
static const uint64_t TILE_BYTES = (uint64_t)TILE * TILE * sizeof(float);

static void *grown(void *p, size_t n, size_t size)
{
	if (n & (n - 1))
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		exit(1);
	return p;
}

/* --- Graphs ------------------------------------------------------------------------------------------------------- */

enum type { POTRF, TRSM, SYRK, GEMM, N_TYPES };
static const char *const type_names[] = {"spotrf", "strsm", "ssyrk", "sgemm"};
static const double type_flops[] = {1.0 / 3, 1, 1, 2};

static void add_task(struct heddle_graph *g, enum type type, int priority)
{
	g->tasks = grown(g->tasks, g->n_tasks, sizeof *g->tasks);
	g->tasks[g->n_tasks++] = (struct heddle_graph_task){.type = type,
	                                                    .priority = priority,
	                                                    .flops = type_flops[type] * TILE * TILE * TILE,
	                                                    .first_access = g->n_accesses};
}

static void add_access(struct heddle_graph *g, size_t datum, unsigned mode)
{
	g->accesses = grown(g->accesses, g->n_accesses, sizeof *g->accesses);
	g->accesses[g->n_accesses++] = (struct heddle_graph_access){(uint32_t)datum, mode};
	g->tasks[g->n_tasks - 1].n_accesses++;
	for (; g->n_data <= datum; g->n_data++) {
		g->data = grown(g->data, g->n_data, sizeof *g->data);
		g->data[g->n_data].bytes = TILE_BYTES;
	}
}

static size_t lower(size_t i, size_t j)
{
	return i * (i + 1) / 2 + j;
}

/* With the priorities of heddle_dense_potrf_submit. */
static void cholesky(struct heddle_graph *g, size_t t)
{
	for (size_t k = 0; k < t; k++) {
		int n2 = (int)(2 * t - 2 * k);
		add_task(g, POTRF, n2);
		add_access(g, lower(k, k), HEDDLE_RW);
		for (size_t m = k + 1; m < t; m++) {
			add_task(g, TRSM, n2 - (int)(m - k));
			add_access(g, lower(k, k), HEDDLE_R);
			add_access(g, lower(m, k), HEDDLE_RW);
		}
		for (size_t m = k + 1; m < t; m++) {
			add_task(g, SYRK, n2 - 2 * (int)(m - k));
			add_access(g, lower(m, k), HEDDLE_R);
			add_access(g, lower(m, m), HEDDLE_RW);
			for (size_t n = k + 1; n < m; n++) {
				add_task(g, GEMM, n2 - (int)(m - k) - (int)(n - k));
				add_access(g, lower(m, k), HEDDLE_R);
				add_access(g, lower(n, k), HEDDLE_R);
				add_access(g, lower(m, n), HEDDLE_RW);
			}
		}
	}
}

/* C += A B, the loop over k innermost. */
static void gemm(struct heddle_graph *g, size_t t)
{
	for (size_t i = 0; i < t; i++)
		for (size_t j = 0; j < t; j++)
			for (size_t k = 0; k < t; k++) {
				add_task(g, GEMM, 0);
				add_access(g, i * t + k, HEDDLE_R);
				add_access(g, t * t + k * t + j, HEDDLE_R);
				add_access(g, 2 * t * t + i * t + j, HEDDLE_RW);
			}
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* t^3 / 3 tasks, each of which reads two data and changes a third, of t^2 in all. */
static void random_graph(struct heddle_graph *g, size_t t)
{
	uint64_t state = 42;
	for (size_t i = 0; i < t * t * t / 3; i++) {
		size_t d[3];
		add_task(g, GEMM, 0);
		for (int k = 0; k < 3; k++) {
			do
				d[k] = next_random(&state) % (t * t);
			while ((k > 0 && d[k] == d[0]) || (k > 1 && d[k] == d[1]));
			add_access(g, d[k], k < 2 ? HEDDLE_R : HEDDLE_RW);
		}
	}
}

static struct heddle_graph *make_graph(const char *kind, size_t tiles)
{
	struct heddle_graph *g = calloc(1, sizeof *g);
	g->name = strdup(kind);
	g->types = calloc(N_TYPES, sizeof *g->types);
	for (g->n_types = 0; g->n_types < N_TYPES; g->n_types++)
		g->types[g->n_types].name = strdup(type_names[g->n_types]);
	if (strcmp(kind, "cholesky") == 0)
		cholesky(g, tiles);
	else if (strcmp(kind, "gemm") == 0)
		gemm(g, tiles);
	else
		random_graph(g, tiles);
	good(heddle_graph_check(g));
	return g;
}

/* --- The bound ---------------------------------------------------------------------------------------------------- */

/* Bytes that must come to all memories for the schedule of the trace, if `unlimited` as if no memory had a limit. */
static uint64_t bound(heddle_runtime *rt, const struct heddle_trace *trace, int unlimited)
{
	struct heddle_platform *p = trace->platform;
	struct heddle_trace_memory *memories = calloc(p->n_nodes, sizeof *memories);
	uint64_t bytes = 0;
	for (unsigned node = 0; node < p->n_nodes && unlimited; node++)
		p->nodes[node].capacity = 0;
	good(heddle_trace_memories(rt, trace, memories));
	for (unsigned node = 0; node < p->n_nodes; node++)
		bytes += memories[node].least;
	free(memories);
	return bytes;
}

/* How many data an accelerator has written and no CPU read afterwards: their values must come to main memory in the
 * end. With `lacking`, only those that have not come while the tasks ran. */
static uint64_t results(const struct heddle_graph *g, const struct heddle_trace *trace, int lacking)
{
	double *away = calloc(g->n_data, sizeof *away); /* us: when an accelerator wrote the newest value; 0: at home */
	uint64_t n = 0;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_graph_task *t = &g->tasks[trace->tasks[i].id];
		unsigned node = trace->platform->workers[trace->tasks[i].worker].node;
		for (size_t k = 0; k < t->n_accesses; k++) {
			const struct heddle_graph_access *a = &g->accesses[t->first_access + k];
			if (!node || a->mode != HEDDLE_R)
				away[a->data] = node ? trace->tasks[i].end : 0;
		}
	}
	for (size_t i = 0; lacking && i < trace->n_transfers; i++) {
		const struct heddle_trace_transfer *tr = &trace->transfers[i];
		if (tr->to == 0 && tr->start >= away[tr->data])
			away[tr->data] = 0;
	}
	for (size_t d = 0; d < g->n_data; d++)
		n += away[d] > 0;
	free(away);
	return n;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

struct bench {
	const struct heddle_graph *graph;
	struct heddle_platform *platform;
	int each;         /* the shares are those of every accelerator */
	double unlimited; /* us: the makespan of the policy without limit */
};

static void print_head(void)
{
	printf("graph,policy,share,rule,moved,bound,compulsory,evictions,makespan (us),makespan / without limit\n");
}

/* How many data the memory of an accelerator is to hold; 0: no limit. */
static size_t room_of(const struct bench *b, double share)
{
	enum { TWO_TASKS = 6 }; /* what two tasks need: the one that runs, and the one that comes next */
	double parts = b->each ? 1 : (double)(b->platform->n_nodes - 1);
	size_t room = (size_t)(share * (double)b->graph->n_data / parts);
	return share > 0 && room < TWO_TASKS ? TWO_TASKS : room;
}

static double run(const struct bench *b, const char *policy, const char *rule, double share)
{
	struct heddle_config config;
	heddle_runtime *rt;
	struct heddle_stats stats;
	struct heddle_trace *trace;
	size_t room = room_of(b, share);
	good(heddle_config_init(&config));
	config.sched = policy;
	config.eviction = rule;
	config.trace = 1;
	for (unsigned i = 1; i < b->platform->n_nodes; i++)
		b->platform->nodes[i].capacity = room * TILE_BYTES;
	good(heddle_start_on(&config, b->platform, 1, &rt));
	good(heddle_graph_submit(b->graph, rt));
	good(heddle_runtime_stats(rt, &stats));
	good(heddle_trace_take(rt, &trace));
	double makespan = stats.makespan;
	uint64_t least = bound(rt, trace, 0) / TILE_BYTES;
	printf("%s,%s,%g,%s,%llu,%llu,%llu,%llu,%.0f,%.3f\n", b->graph->name, policy, share, rule,
	       (unsigned long long)(stats.bytes_moved / TILE_BYTES + results(b->graph, trace, 1)),
	       (unsigned long long)(least + results(b->graph, trace, 0)),
	       (unsigned long long)(bound(rt, trace, 1) / TILE_BYTES + results(b->graph, trace, 0)),
	       (unsigned long long)stats.evictions, makespan, share > 0 ? makespan / b->unlimited : 1.0);
	fflush(stdout);
	heddle_trace_free(trace);
	good(heddle_stop(rt));
	return makespan;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "arguments: PLATFORM cholesky|gemm|random TILES [POLICY,...] [each]\n");
		return 2;
	}
	struct bench b = {.each = argc > 5 && strcmp(argv[5], "each") == 0};
	good(heddle_platform_load(argv[1], &b.platform));
	struct heddle_graph *g = make_graph(argv[2], (size_t)atoi(argv[3]));
	b.graph = g;
	char *policies = strdup(argc > 4 ? argv[4] : "dmdas,dmdar,dmda,prio,lws,multiprio,autoheteroprio");
	print_head();
	for (const char *p = strtok(policies, ","); p; p = strtok(NULL, ",")) {
		b.unlimited = run(&b, p, "lru", 0);
		for (double share = 0.5; share > 0.1; share /= 2) {
			run(&b, p, "lru", share);
			run(&b, p, "next_use", share);
		}
	}
	free(policies);
	heddle_graph_free(g);
	heddle_platform_free(b.platform);
	return 0;
}
