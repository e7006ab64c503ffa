/* Every function of CUDA's driver, cuBLAS and cuSOLVER that dense kernels call is made to fail, in each precision: its
 * first call, one in the middle, the last one. Then there is an error that names the call, and the same runtime
 * computes the same again; or, for what only gives something back, nothing happens. Nothing is left over. Only on the
 * stand-ins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dense/cuda/calls.h>
#include "dense_standin.h"

enum { TILE = 8, N = 3 * TILE };
enum library { DRIVER, CUBLAS, CUSOLVER };

/* Together they call everything; those that check by a product of Hermitian matrices call hemm. */
static const char *const routines[] = {"potrf", "getrf", "geqrf", "syrk", "symm", "trmm", "lauum"};
enum { N_ROUTINES = sizeof routines / sizeof *routines };

static struct call {
	const char *name; /* as the library has it: with its version */
	enum library library;
	unsigned counts[N_ROUTINES][HEDDLE_DENSE_PRECISIONS]; /* when nothing fails */
	unsigned named;                                       /* how many errors have named it */
	unsigned unharmed;                                    /* how often all was well although it failed */
} calls[] = {
#define OF_DRIVER(f) {.name = #f, .library = DRIVER},
#define OF_CUBLAS(f) {.name = #f, .library = CUBLAS},
#define OF_CUSOLVER(f) {.name = #f, .library = CUSOLVER},
    HD_CUDA_CALLS(OF_DRIVER) HD_CUBLAS_CALLS(OF_CUBLAS) HD_CUSOLVER_CALLS(OF_CUSOLVER)};
enum { N_CALLS = sizeof calls / sizeof *calls };

/* --- A run -------------------------------------------------------------------------------------------------------- */

struct run {
	unsigned routine, precision;
	int status;
	char sentence[1024];
};

static int compute(struct fixture *f, const struct run *r)
{
	struct heddle_dense_report report = {0};
	struct heddle_dense_problem problem = {.routine = routines[r->routine],
	                                       .precision = (enum heddle_dense_precision)r->precision,
	                                       .options = {.tile = TILE},
	                                       .n = N,
	                                       .check = 1};
	int status = heddle_dense_run(f->dense, &problem, &report);
	if (status == 0 && !(report.residual < 30))
		fail_msg("%s in precision %u: residual %g", routines[r->routine], r->precision, report.residual);
	return status;
}

/* From the start of a runtime to its end, on one device and no CPU. */
static void run(struct run *r)
{
	struct fixture f = {0};
	const struct heddle_config config = one_device(0);
	unsigned before = standin->leaks(NULL);
	r->status = heddle_start(&config, &f.rt);
	if (r->status == 0) {
		OK(heddle_dense_open(f.rt, &f.dense));
		r->status = compute(&f, r);
	}
	snprintf(r->sentence, sizeof r->sentence, "%s", r->status ? heddle_last_error() : "");
	if (f.rt && r->status) {
		heddle_wait_all(f.rt); /* says what else has failed */
		OK(compute(&f, r));
	}
	if (f.rt) {
		heddle_dense_close(f.dense);
		OK(heddle_stop(f.rt));
	}
	if (standin->leaks(NULL) != before)
		fail_msg("%s in precision %u: %u things are left over", routines[r->routine], r->precision,
		         standin->leaks(stderr) - before);
	assert_string_equal(standin->complaint(), "");
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

/* What only gives something back: nothing can be done about its failure, and nothing need be. */
static int releases(const struct call *c)
{
	return strstr(c->name, "Destroy") || strstr(c->name, "Free");
}

/* Where the runtime calls it, too, its failure may do no harm: pinned memory is replaced by other memory. */
static int may_be_replaced(const struct call *c)
{
	return strcmp(c->name, "cuMemHostAlloc") == 0;
}

/* Its name in messages, as NVIDIA's documents have it. */
static const char *plain_name(const struct call *c, char name[64])
{
	snprintf(name, 64, "%s", c->name);
	char *version = strstr(name, "_v2");
	if (version)
		*version = '\0';
	return name;
}

/* A code of each kind: of a call that is wrong, of one that lacks memory, and of a library that was not made ready. */
static int code_of(enum library library, unsigned kind)
{
	static const int codes[][3] = {[DRIVER] = {801, 2, 1}, [CUBLAS] = {13, 3, 1}, [CUSOLVER] = {6, 2, 1}};
	return codes[library][kind % 3];
}

/* Of the libraries' errors: their own words, and for a lack of memory HEDDLE_E_MEMORY, which the kernel returns. */
static void assert_words(const struct run *r, const struct call *c, unsigned kind)
{
	static const char *const words[][3] = {[CUBLAS] = {"(13); ", "(3); ", "the cuBLAS library was not initialized"},
	                                       [CUSOLVER] = {"CUSOLVER_STATUS_EXECUTION_FAILED",
	                                                     "CUSOLVER_STATUS_ALLOC_FAILED",
	                                                     "CUSOLVER_STATUS_NOT_INITIALIZED"}};
	if (r->status == 0 || c->library == DRIVER)
		return;
	if (!strstr(r->sentence, words[c->library][kind]))
		fail_msg("%s: \"%s\" is missing: %s", c->name, words[c->library][kind], r->sentence);
	if (kind == 1 && (!strstr(r->sentence, "returned -2") || !strstr(r->sentence, "cuda_memory")))
		fail_msg("%s: it should be HEDDLE_E_MEMORY: %s", c->name, r->sentence);
}

static void assert_fails_well(struct call *c, struct run r, unsigned nth, unsigned kind)
{
	char name[64];
	int code = code_of(c->library, kind);
	standin->reset();
	(standin->fail)(c->name, nth, code);
	run(&r);
	if (standin->calls(c->name) < nth)
		return; /* the runtime's own calls may be fewer */
	if (r.status == 0 && !releases(c) && !may_be_replaced(c))
		fail_msg("call %u of %s, %s: it failed with %d, and nobody saw it", nth, c->name, routines[r.routine],
		         code);
	if (r.status != 0 && releases(c))
		fail_msg("call %u of %s: %s", nth, c->name, r.sentence);
	if (r.status != 0 && !strstr(r.sentence, plain_name(c, name)))
		fail_msg("call %u of %s, %s: the message does not say so: %s", nth, c->name, routines[r.routine],
		         r.sentence);
	assert_words(&r, c, kind % 3);
	c->named += r.status != 0;
	c->unharmed += r.status == 0;
}

static void count_calls(void **state)
{
	(void)state;
	for (unsigned routine = 0; routine < N_ROUTINES; routine++)
		for (unsigned precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++) {
			struct run r = {.routine = routine, .precision = precision};
			standin->reset();
			run(&r);
			assert_string_equal(r.sentence, "");
			for (unsigned i = 0; i < N_CALLS; i++)
				calls[i].counts[routine][precision] = standin->calls(calls[i].name);
		}
}

/* The first call in the first routine that makes it, one in the middle in the routine in the middle, and the last one
 * in the last. */
static void fail_in_turn(struct call *c, unsigned precision)
{
	unsigned callers[N_ROUTINES], n = 0;
	for (unsigned routine = 0; routine < N_ROUTINES; routine++)
		if (c->counts[routine][precision])
			callers[n++] = routine;
	for (unsigned k = 0; n && k < 3; k++) {
		unsigned routine = callers[k * (n - 1) / 2], count = c->counts[routine][precision];
		unsigned nth = k == 0 ? 1 : k == 1 ? (count + 1) / 2 : count;
		assert_fails_well(c, (struct run){.routine = routine, .precision = precision}, nth, k + precision);
	}
}

static void every_call_fails(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_CALLS; i++)
		for (unsigned precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++)
			fail_in_turn(&calls[i], precision);
}

/* Without words for the error, its number is told. */
static void words_of_an_error_are_missing(void **state)
{
	(void)state;
	struct run r = {.routine = 0};
	standin->reset();
	(standin->fail)("cublasDgemm", 1, 13);
	(standin->fail)("cublasGetStatusString", 1, 1);
	run(&r);
	if (!strstr(r.sentence, "cublasDgemm") || !strstr(r.sentence, "13"))
		fail_msg("%s", r.sentence);
}

static void every_call_was_made_and_has_failed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_CALLS; i++) {
		const struct call *c = &calls[i];
		if (strcmp(c->name, "cublasGetStatusString") == 0)
			continue; /* only after an error: words_of_an_error_are_missing */
		if (releases(c) ? !c->unharmed : !c->named)
			fail_msg("%s was never made to fail", c->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(count_calls),
	    cmocka_unit_test(every_call_fails),
	    cmocka_unit_test(words_of_an_error_are_missing),
	    cmocka_unit_test(every_call_was_made_and_has_failed),
	};
	need_standin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
