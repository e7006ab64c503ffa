/* Sparse QR in virtual time. mp-sparse: figures 7 and 8 of H. Tayeb and others, "Dynamic tasks scheduling with multiple
 * priorities on heterogeneous computing systems", IPDPSW 2024: policies beside dmdas on sparse factorisations, without
 * priorities, on two machines with 2 GPUs of 4 streams. ah-scheds and ah-inter: figures 9 to 11 of C. Flint, B. Bramas,
 * "Finding new heuristics for automated task prioritizing in heterogeneous computing" (2020): policies, and the 28
 * heuristics of AutoHeteroprio, on the matrix TF16.
 *
 * The matrices are those of the papers that can be made exactly, or as nearly as docs/sparse.md says. */
#include "repro.h"
#include <stdlib.h>
#include "commands/lab.h"

/* --- Machines and runs -------------------------------------------------------------------------------------------- */

enum { MACHINES = 2, STREAMS = 4 };
#define NOISE 0.05

struct runs {
	struct repro_word_run *list;
	size_t n;
	struct heddle_platform *platforms[MACHINES];
};

static int open_runs(struct runs *r, const char *const machines[MACHINES], size_t most)
{
	int status = TOOL_OK;
	*r = (struct runs){.list = tool_alloc(most * sizeof *r->list)};
	for (size_t i = 0; i < MACHINES && !status; i++)
		status = repro_machine_with_streams(machines[i], STREAMS, &r->platforms[i]);
	return status;
}

static void close_runs(struct runs *r)
{
	repro_word_runs_free(r->list, r->n);
	for (size_t i = 0; i < MACHINES; i++)
		heddle_platform_free(r->platforms[i]);
	free(r->list);
}

/* Takes over the words of `run`. */
static void add_run(struct runs *r, struct repro_word_run run)
{
	r->list[r->n++] = run;
}

static char *word_of(const char *matrix, size_t tile)
{
	return tool_format("sparse-qr:matrix=%s,tile=%zu,priorities=none", matrix, tile);
}

static int simulate_all(struct runs *r)
{
	return repro_simulate_words(r->list, r->n);
}

/* --- mp-sparse ---------------------------------------------------------------------------------------------------- */

enum { MATRICES = 7, TILES = 3, POLICIES = 10, QUICK_MATRICES = 3 };
enum { MULTIPRIO, DMDAS };

static const char *const mp_machines[MACHINES] = {"intel-v100", "amd-a100"};
static const char *const matrices[MATRICES] = {"cat_ears_4_4", "flower_7_4", "mk11-b4", "TF16",
                                               "flower_8_4",   "mk12-b4",    "TF17"};
static const size_t tiles[TILES] = {256, 512, 1024};
static const struct {
	const char *label, *sched, *options;
} policies[POLICIES] = {
    /* in the paper's StarPU each stream is a worker */
    [MULTIPRIO] = {"multiprio", "multiprio", "stream=worker"},
    [DMDAS] = {"dmdas", "dmdas", NULL},
    {"multiprio first=criticality", "multiprio", "stream=worker,first=criticality"},
    {"multiprio stream=part", "multiprio", NULL},
    {"dmda", "dmda", NULL},
    {"heft", "heft", NULL},
    {"lws", "lws", NULL},
    {"eager", "eager", NULL},
    {"laheteroprio", "laheteroprio", NULL},
    {"autoheteroprio", "autoheteroprio", NULL},
};

struct mp {
	struct runs runs;
	size_t n_matrices;
	double gflops[MACHINES][MATRICES][POLICIES][TILES];
};

static double best_of(const struct mp *mp, size_t machine, size_t matrix, size_t policy)
{
	double best = 0;
	for (size_t t = 0; t < TILES; t++)
		best = fmax(best, mp->gflops[machine][matrix][policy][t]);
	return best;
}

/* The speed of a policy over that of dmdas, each with its best tile. */
static double ratio(const struct mp *mp, size_t machine, size_t matrix, size_t policy)
{
	return best_of(mp, machine, matrix, policy) / best_of(mp, machine, matrix, DMDAS);
}

static double mean_ratio(const struct mp *mp, size_t machine, size_t policy)
{
	double logs = 0;
	for (size_t m = 0; m < mp->n_matrices; m++)
		logs += log(ratio(mp, machine, m, policy));
	return exp(logs / (double)mp->n_matrices);
}

/* The runs of one matrix follow each other, so that its analysis is made once per tile. */
static int run_mp(struct mp *mp, uint64_t seed)
{
	size_t n = mp->n_matrices * TILES * MACHINES * POLICIES;
	int status = open_runs(&mp->runs, mp_machines, n);
	for (size_t i = 0; i < n && !status; i++) {
		size_t policy = i % POLICIES, machine = i / POLICIES % MACHINES, tile = i / POLICIES / MACHINES % TILES,
		       matrix = i / POLICIES / MACHINES / TILES;
		const char *options = policies[policy].options;
		add_run(&mp->runs, (struct repro_word_run){.word = word_of(matrices[matrix], tiles[tile]),
		                                           .platform = mp->runs.platforms[machine],
		                                           .sched = policies[policy].sched,
		                                           .sched_options = options ? tool_format("%s", options) : NULL,
		                                           .seed = seed});
	}
	status = status ? status : simulate_all(&mp->runs);
	for (size_t i = 0; i < n && !status; i++)
		mp->gflops[i / POLICIES % MACHINES][i / POLICIES / MACHINES / TILES][i % POLICIES]
		          [i / POLICIES / MACHINES % TILES] = mp->runs.list[i].outcome.gflops;
	return status;
}

static void add_mp_rows(struct repro_report *report, const struct mp *mp)
{
	static const double paper[MACHINES] = {1.31, 1.12}, least[MACHINES] = {1.15, 1.0};
	for (size_t m = 0; m < MACHINES; m++) {
		char *quantity = tool_format("multiprio / dmdas on %s, geometric mean", mp_machines[m]);
		repro_row(report, quantity, "", paper[m], mean_ratio(mp, m, MULTIPRIO), repro_at_least(least[m]));
		free(quantity);
	}
	for (size_t i = 0; i < MACHINES * POLICIES; i++) {
		size_t m = i / POLICIES, policy = i % POLICIES;
		if (policy == MULTIPRIO || policy == DMDAS)
			continue;
		char *quantity =
		    tool_format("%s / dmdas on %s, geometric mean", policies[policy].label, mp_machines[m]);
		repro_row(report, quantity, "", NAN, mean_ratio(mp, m, policy), repro_shown());
		free(quantity);
	}
	for (size_t i = 0; i < MACHINES * mp->n_matrices; i++) {
		size_t m = i / mp->n_matrices, matrix = i % mp->n_matrices;
		char *quantity = tool_format("multiprio / dmdas on %s, %s", mp_machines[m], matrices[matrix]);
		repro_row(report, quantity, "", NAN, ratio(mp, m, matrix, MULTIPRIO), repro_shown());
		free(quantity);
	}
}

static int write_mp_data(struct repro_report *report, const struct mp *mp)
{
	static const struct table_column columns[] = {
	    {"platform", NULL, NULL, TABLE_AS_TEXT},
	    {"matrix", NULL, NULL, TABLE_AS_TEXT},
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	    {"tile", NULL, NULL, 0},
	    {"gflops", NULL, NULL, 1},
	    {"moved_gb", NULL, NULL, 2},
	    {"idle", NULL, NULL, 3},
	    {"tasks", NULL, NULL, 0},
	};
	struct table table;
	table_init(&table, "runs", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < mp->runs.n; i++) {
		const struct outcome *o = &mp->runs.list[i].outcome;
		table_text(&table, "%s", mp_machines[i / POLICIES % MACHINES]);
		table_text(&table, "%s", matrices[i / POLICIES / MACHINES / TILES]);
		table_text(&table, "%s", policies[i % POLICIES].label);
		table_number(&table, (double)tiles[i / POLICIES / MACHINES % TILES]);
		table_number(&table, o->gflops);
		table_number(&table, o->bytes_moved * 1e-9);
		table_number(&table, o->idle);
		table_number(&table, o->tasks);
	}
	int status = repro_data(report, "runs", &table);
	table_free(&table);
	return status;
}

static void add_mp_notes(struct repro_report *report)
{
	repro_note(report, "Times of kernels and links are modelled on both machines; those of assembly and "
	                   "subtrees follow laws measured on a core. Double precision, inner blocking of 32, "
	                   "METIS; each policy with its best tile of 256, 512 and 1024.");
	repro_note(report,
	           "multiprio counts each stream of a GPU as a worker (stream=worker), as in the paper's StarPU; "
	           "stream=part is Heddle's default.");
	repro_note(report,
	           "Of the paper's ten matrices, e18, Rucci1, neos2 and GL7d24 cannot be made. TF18 and mk13-b5 "
	           "take minutes and are left out; TF16, mk11-b4 and mk12-b4 stand for their families.");
}

int repro_mp_sparse(struct repro_report *report)
{
	struct mp *mp = tool_alloc(sizeof *mp);
	mp->n_matrices = report->quick ? QUICK_MATRICES : MATRICES;
	int status = run_mp(mp, report->seed);
	if (!status) {
		repro_where(report, "virtual time (simulated), platforms %s and %s, %d streams per GPU", mp_machines[0],
		            mp_machines[1], STREAMS);
		add_mp_rows(report, mp);
		add_mp_notes(report);
		status = write_mp_data(report, mp);
	}
	status = status ? status : repro_bars_of_rows(report, "Sparse QR: speed over that of dmdas (simulated)");
	close_runs(&mp->runs);
	free(mp);
	return status;
}

/* --- ah-scheds ---------------------------------------------------------------------------------------------------- */

enum { SEEDS = 32, QUICK_SEEDS = 1, SCHEDS = 7, AH_TILE = 256 };
enum { EAGER, LWS, DM, DMDA, SORTED, HETEROPRIO, AHP };

static const char ah_matrix[] = "TF16", *const ah_machines[MACHINES] = {"intel-v100", "haswell-k40m"};
static const char *const scheds[SCHEDS] = {
    [EAGER] = "eager",           [LWS] = "lws",           [DM] = "dm", [DMDA] = "dmda", [SORTED] = "dmdas",
    [HETEROPRIO] = "heteroprio", [AHP] = "autoheteroprio"};

/* AHP is the mean over all heuristics; as many runs of each as of another policy are more than is needed. */
static size_t n_heuristics_of(size_t sched)
{
	return sched == AHP ? HD_HEURISTICS : 1;
}

static void add_ah_run(struct runs *r, size_t machine, const char *sched, int heuristic, uint64_t seed)
{
	char name[32];
	add_run(r,
	        (struct repro_word_run){
	            .word = word_of(ah_matrix, AH_TILE),
	            .platform = r->platforms[machine],
	            .sched = sched,
	            .sched_options =
	                heuristic < 0 ? NULL : tool_format("heuristic=%s,memory=", lab_heuristic_name(heuristic, name)),
	            .seed = seed,
	            .noise = NOISE});
}

struct scheds {
	struct runs runs;
	size_t n_seeds;
	double seconds[MACHINES][SCHEDS]; /* means */
};

static int run_scheds(struct scheds *s, uint64_t seed)
{
	int status = open_runs(&s->runs, ah_machines, MACHINES * s->n_seeds * (SCHEDS - 1 + HD_HEURISTICS));
	for (size_t m = 0; m < MACHINES && !status; m++)
		for (size_t p = 0; p < SCHEDS; p++)
			for (size_t i = 0; i < s->n_seeds * n_heuristics_of(p); i++)
				add_ah_run(&s->runs, m, scheds[p], p == AHP ? (int)(i / s->n_seeds) : -1,
				           seed + i % s->n_seeds);
	status = status ? status : simulate_all(&s->runs);
	size_t next = 0;
	for (size_t m = 0; m < MACHINES && !status; m++)
		for (size_t p = 0; p < SCHEDS; p++) {
			size_t n = s->n_seeds * n_heuristics_of(p);
			s->seconds[m][p] = 0;
			for (size_t i = 0; i < n; i++)
				s->seconds[m][p] += s->runs.list[next++].outcome.seconds / (double)n;
		}
	return status;
}

static void add_sched_rows(struct repro_report *report, const struct scheds *s)
{
	const double *v = s->seconds[0], *k = s->seconds[1];
	double plain = (v[EAGER] + v[LWS] + v[DM]) / 3, aware = (v[DMDA] + v[SORTED]) / 2;
	repro_row(report, "intel-v100: heteroprio / AHP", "", 1, v[HETEROPRIO] / v[AHP], repro_within(1, 0.1));
	repro_row(report, "intel-v100: AHP / mean of eager, lws, dm", "", 0.9, v[AHP] / plain, repro_at_most(1));
	repro_row(report, "intel-v100: mean of eager, lws, dm / mean of dmda, dmdas", "", 0.92, plain / aware,
	          repro_at_most(1));
	double best = INFINITY;
	for (size_t p = 0; p < AHP; p++)
		best = fmin(best, k[p]);
	repro_row(report, "haswell-k40m: AHP / best of the others", "", NAN, k[AHP] / best, repro_at_most(1));
	for (size_t i = 0; i < MACHINES * SCHEDS; i++) {
		char *quantity = tool_format("%s: %s", ah_machines[i / SCHEDS], scheds[i % SCHEDS]);
		repro_row(report, quantity, "s", NAN, s->seconds[i / SCHEDS][i % SCHEDS], repro_shown());
		free(quantity);
	}
}

static void add_ah_notes(struct repro_report *report)
{
	repro_note(
	    report,
	    "TF16 with METIS, tiles of %d, double precision, no priorities, %d streams per GPU. The paper's mean of "
	    "6 s is .2 Tflop/s, which is not what today's tiles reach: only the order of the policies is judged.",
	    AH_TILE, STREAMS);
	repro_note(report, "Execution times vary by %g %%; every run has a seed of its own.", 100 * NOISE);
}

int repro_ah_scheds(struct repro_report *report)
{
	struct scheds *s = tool_alloc(sizeof *s);
	s->n_seeds = report->quick ? QUICK_SEEDS : SEEDS;
	int status = run_scheds(s, report->seed);
	if (!status) {
		repro_where(report, "virtual time (simulated), platforms %s and %s", ah_machines[0], ah_machines[1]);
		add_sched_rows(report, s);
		repro_note(report, "heteroprio has the orders that it derives from the times of kernels: the paper's "
		                   "priorities, made by hand, are not known.");
		add_ah_notes(report);
		status = repro_bars_of_rows(report, "Sparse QR of TF16 under seven policies (simulated)");
	}
	close_runs(&s->runs);
	free(s);
	return status;
}

/* --- ah-inter ----------------------------------------------------------------------------------------------------- */

struct inter {
	struct runs runs;
	size_t n_seeds;
	double seconds[MACHINES][HD_HEURISTICS]; /* means */
};

static int run_inter(struct inter *x, uint64_t seed)
{
	size_t n = MACHINES * HD_HEURISTICS * x->n_seeds;
	int status = open_runs(&x->runs, ah_machines, n);
	for (size_t i = 0; i < n && !status; i++)
		add_ah_run(&x->runs, i / x->n_seeds / HD_HEURISTICS, "autoheteroprio",
		           (int)(i / x->n_seeds % HD_HEURISTICS), seed + i % x->n_seeds);
	status = status ? status : simulate_all(&x->runs);
	for (size_t i = 0; i < n && !status; i++)
		x->seconds[i / x->n_seeds / HD_HEURISTICS][i / x->n_seeds % HD_HEURISTICS] +=
		    x->runs.list[i].outcome.seconds / (double)x->n_seeds;
	return status;
}

/* By how much the slowest (sign 1) or quickest (-1) heuristic differs from the mean of all, in %. */
static double extreme(const double seconds[HD_HEURISTICS], int sign)
{
	double mean = 0, most = -INFINITY;
	for (int h = 0; h < HD_HEURISTICS; h++) {
		mean += seconds[h] / HD_HEURISTICS;
		most = fmax(most, sign * seconds[h]);
	}
	return 100 * (sign * most / mean - 1);
}

static int write_inter_data(struct repro_report *report, const struct inter *x)
{
	static const struct table_column columns[] = {
	    {"platform", NULL, NULL, TABLE_AS_TEXT},
	    {"heuristic", NULL, NULL, TABLE_AS_TEXT},
	    {"seconds", NULL, NULL, 5},
	};
	struct table table;
	char name[32];
	table_init(&table, "heuristics", NULL, columns, sizeof columns / sizeof *columns);
	for (int i = 0; i < MACHINES * HD_HEURISTICS; i++) {
		table_text(&table, "%s", ah_machines[i / HD_HEURISTICS]);
		table_text(&table, "%s", lab_heuristic_name(i % HD_HEURISTICS, name));
		table_number(&table, x->seconds[i / HD_HEURISTICS][i % HD_HEURISTICS]);
	}
	int status = repro_data(report, "heuristics", &table);
	table_free(&table);
	return status;
}

int repro_ah_inter(struct repro_report *report)
{
	struct inter *x = tool_alloc(sizeof *x);
	x->n_seeds = report->quick ? QUICK_SEEDS : SEEDS / 4;
	int status = run_inter(x, report->seed);
	if (!status) {
		repro_where(report, "virtual time (simulated), platforms %s and %s", ah_machines[0], ah_machines[1]);
		for (size_t m = 0; m < MACHINES; m++) {
			char *slow = tool_format("%s: slowest of 28 heuristics over the mean", ah_machines[m]),
			     *quick = tool_format("%s: quickest of 28 heuristics over the mean", ah_machines[m]);
			repro_row(report, slow, "%", 2, extreme(x->seconds[m], 1), repro_at_most(4));
			repro_row(report, quick, "%", -2, extreme(x->seconds[m], -1), repro_at_least(-4));
			free(slow);
			free(quick);
		}
		add_ah_notes(report);
		status = write_inter_data(report, x);
	}
	status = status ? status : repro_bars_of_rows(report, "Sparse QR of TF16: spread of heuristics (simulated)");
	close_runs(&x->runs);
	free(x);
	return status;
}
