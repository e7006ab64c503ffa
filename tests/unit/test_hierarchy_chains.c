/* Every short program of ordinary and hierarchical tasks that read or write a datum, or pieces of it by two plans: what
 * each task reads, and what is left, is what a sequential run gives. */
#include "hierarchy.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* everything takes much longer */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* --- Handles, and tasks on them ----------------------------------------------------------------------------------- */

/* A vector of three elements has two plans, P and Q, whose larger children P0 and Q1 share the element in the middle.
 * P0 has a plan of its own. */
enum { ROOT, P0, P1, Q0, Q1, R0, R1, HANDLES, LENGTH = 3 };
static const struct {
	size_t begin, end;
} extent[HANDLES] = {{0, 3}, {0, 2}, {2, 3}, {0, 1}, {1, 3}, {0, 1}, {1, 2}};

/* A task: an ordinary one, or one with a sub-graph. */
struct part {
	int handle, writes;
	const struct part *sub;
	int n_sub;
};
#define SUB(a) a, (int)(sizeof a / sizeof *a)

static const struct part write_p[] = {{R0, 1, NULL, 0}, {P0, 0, NULL, 0}, {R1, 1, NULL, 0}};
static const struct part read_p[] = {{R1, 0, NULL, 0}, {P0, 0, NULL, 0}};
static const struct part write_q[] = {{Q1, 0, NULL, 0}, {Q1, 1, NULL, 0}};
static const struct part read_q[] = {{Q1, 0, NULL, 0}, {Q1, 0, NULL, 0}};
static const struct part write_root[] = {{R0, 1, NULL, 0}, {P1, 1, NULL, 0}, {Q1, 1, NULL, 0}, {P0, 1, SUB(write_p)}};
static const struct part read_root[] = {{Q0, 0, NULL, 0}, {P0, 0, SUB(read_p)}, {ROOT, 0, NULL, 0}};

/* {ordinary, hierarchical} x {reads, writes} x {the datum, a piece by P, a piece by Q} */
static const struct part letters[] = {
    {ROOT, 0, NULL, 0}, {ROOT, 1, NULL, 0}, {ROOT, 0, SUB(read_root)}, {ROOT, 1, SUB(write_root)},
    {P0, 0, NULL, 0},   {P0, 1, NULL, 0},   {P0, 0, SUB(read_p)},      {P0, 1, SUB(write_p)},
    {Q1, 0, NULL, 0},   {Q1, 1, NULL, 0},   {Q1, 0, SUB(read_q)},      {Q1, 1, SUB(write_q)},
};
enum { LETTERS = sizeof letters / sizeof *letters, MOST = 5, PARTS = 8 /* ordinary ones, at most, in a letter */ };

/* What a program reads: a number for each ordinary part of each letter, and what is left. */
struct result {
	uint64_t seen[MOST * PARTS], left[LENGTH];
};

/* A program that runs, on data of its own. */
struct lane {
	heddle_data *handle[HANDLES];
	uint64_t x[LENGTH];
	unsigned word;
	struct result result;
};

/* A task's values: which it is, and which of the numbers it notes. */
struct values {
	const struct part *part;
	struct lane *lane;
	int number;
};

static uint64_t sum(const uint64_t *x, size_t n)
{
	uint64_t s = 7;
	for (size_t i = 0; i < n; i++)
		s = 31 * s + x[i];
	return s;
}

static void change(uint64_t *x, size_t n, int number)
{
	for (size_t i = 0; i < n; i++)
		x[i] = 1000003 * x[i] + (uint64_t)number + 1;
}

static int n_ordinary(const struct part *part)
{
	int n = part->sub == NULL;
	for (int i = 0; i < part->n_sub; i++)
		n += n_ordinary(&part->sub[i]);
	return n;
}

/* --- A sequential run --------------------------------------------------------------------------------------------- */

static void run_part(const struct part *part, int number, uint64_t *x, struct result *r)
{
	size_t begin = extent[part->handle].begin, n = extent[part->handle].end - begin;
	if (!part->sub && part->writes)
		change(x + begin, n, number);
	else if (!part->sub)
		r->seen[number] = sum(x + begin, n);
	for (int i = 0; i < part->n_sub; number += n_ordinary(&part->sub[i++]))
		run_part(&part->sub[i], number, x, r);
}

static void run_word(unsigned word, int length, struct result *r)
{
	uint64_t x[LENGTH] = {0};
	memset(r, 0, sizeof *r);
	for (int i = 0; i < length; i++, word /= LETTERS)
		run_part(&letters[word % LETTERS], i * PARTS, x, r);
	memcpy(r->left, x, sizeof x);
}

/* --- Heddle's ----------------------------------------------------------------------------------------------------- */

static heddle_codelet *codelets[2][2]; /* whether they write, and are hierarchical */
static heddle_codelet *begin_codelet, *end_codelet, *hold_codelet;
static atomic_int gate;

static int read_kernel(heddle_context *c)
{
	const struct values *v = heddle_value_ptr(c, 0);
	v->lane->result.seen[v->number] = sum(heddle_ptr(c, 0), heddle_extent(c, 0, 0));
	return 0;
}

static int write_kernel(heddle_context *c)
{
	const struct values *v = heddle_value_ptr(c, 0);
	change(heddle_ptr(c, 0), heddle_extent(c, 0, 0), v->number);
	return 0;
}

static int begin_kernel(heddle_context *c)
{
	memset(heddle_ptr(c, 0), 0, LENGTH * sizeof(uint64_t));
	return 0;
}

static int end_kernel(heddle_context *c)
{
	struct lane *lane = pointer_value(c);
	memcpy(lane->result.left, heddle_ptr(c, 0), sizeof lane->result.left);
	return 0;
}

static int hold_kernel(heddle_context *c)
{
	(void)c;
	wait_for(&gate, 1);
	return 0;
}

static int submit_part(heddle_runtime *rt, const struct values *v)
{
	heddle_data *d = v->lane->handle[v->part->handle];
	return heddle_submit(rt, heddle_call(codelets[v->part->writes][v->part->sub != NULL]),
	                     v->part->writes ? heddle_rw(d) : heddle_r(d), heddle_bytes(v, sizeof *v));
}

static int expand(heddle_context *c)
{
	const struct values *v = heddle_value_ptr(c, 0);
	int status = 0, number = v->number;
	for (int i = 0; i < v->part->n_sub && !status; number += n_ordinary(&v->part->sub[i++])) {
		const struct values sub = {&v->part->sub[i], v->lane, number};
		status = submit_part(heddle_context_runtime(c), &sub);
	}
	return status;
}

static void make_codelets(heddle_runtime *rt)
{
	for (int writes = 0; writes < 2; writes++) {
		heddle_kernel kernel = writes ? write_kernel : read_kernel;
		codelets[writes][0] = heddle_codelet_new(rt, .name = "ordinary", .cpu = kernel, .emulated = kernel);
		codelets[writes][1] = heddle_codelet_new(rt, .name = "hierarchical", .subgraph = expand);
	}
	begin_codelet = heddle_codelet_new(rt, .name = "begin", .cpu = begin_kernel, .emulated = begin_kernel);
	end_codelet = heddle_codelet_new(rt, .name = "end", .cpu = end_kernel);
	hold_codelet = heddle_codelet_new(rt, .name = "hold", .cpu = hold_kernel);
}

static int child_of_q(const struct heddle_part *parent, size_t i, size_t *offset, size_t *n, void *arg)
{
	(void)parent;
	(void)arg;
	offset[0] = extent[Q0 + i].begin;
	n[0] = extent[Q0 + i].end - extent[Q0 + i].begin;
	return 0;
}

static void cut(struct lane *lane, int handle, const struct heddle_filter *filter, int first)
{
	heddle_plan *plan;
	assert_ok(heddle_plan_create(lane->handle[handle], filter, &plan));
	for (int i = 0; i < 2; i++)
		lane->handle[first + i] = heddle_plan_child(plan, (size_t)i);
}

static void open_lane(heddle_runtime *rt, struct lane *lane)
{
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	const struct heddle_filter custom = {.kind = HEDDLE_SPLIT_CUSTOM, .n_children = 2, .child = child_of_q};
	memset(lane, 0, sizeof *lane);
	assert_ok(heddle_vector(rt, lane->x, LENGTH, sizeof *lane->x, &lane->handle[ROOT]));
	cut(lane, ROOT, &halves, P0);
	cut(lane, ROOT, &custom, Q0);
	cut(lane, P0, &halves, R0);
}

static void submit_word(heddle_runtime *rt, struct lane *lane, unsigned word, int length)
{
	lane->word = word;
	memset(&lane->result, 0, sizeof lane->result);
	assert_ok(heddle_submit(rt, heddle_call(begin_codelet), heddle_w(lane->handle[ROOT])));
	for (int i = 0; i < length; i++, word /= LETTERS) {
		const struct values v = {&letters[word % LETTERS], lane, i * PARTS};
		assert_ok(submit_part(rt, &v));
	}
	assert_ok(heddle_submit(rt, heddle_call(end_codelet), heddle_r(lane->handle[ROOT]), heddle_value(lane)));
}

enum { LANES = 32 };

/* Runs the words from `first` on, each in a lane. With `held`, all are submitted before the worker begins any. */
static void run_lanes(heddle_runtime *rt, struct lane *lanes, unsigned first, unsigned n, int length, int held)
{
	gate = 0;
	if (held)
		assert_ok(heddle_submit(rt, heddle_call(hold_codelet)));
	for (unsigned i = 0; i < n; i++)
		submit_word(rt, &lanes[i], first + i, length);
	gate = 1;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	for (unsigned i = 0; i < n; i++) {
		struct result wanted;
		run_word(lanes[i].word, length, &wanted);
		if (memcmp(&wanted, &lanes[i].result, sizeof wanted) != 0)
			fail_msg("word %u of %d letters reads, or leaves, something else", lanes[i].word, length);
	}
}

static void run_all_words(heddle_runtime *rt, int longest, int held)
{
	static struct lane lanes[LANES];
	make_codelets(rt);
	for (int i = 0; i < LANES; i++)
		open_lane(rt, &lanes[i]);
	unsigned words = 1;
	for (int length = 1; length <= longest; length++) {
		words *= LETTERS;
		for (unsigned first = 0; first < words; first += LANES)
			run_lanes(rt, lanes, first, words - first < LANES ? words - first : LANES, length, held);
	}
	for (int i = 0; i < LANES; i++)
		assert_ok(heddle_unregister(lanes[i].handle[ROOT]));
	assert_ok(heddle_stop(rt));
}

#ifdef SANITIZED
enum { LONGEST = 3, LONG = 3 };
#else
enum { LONGEST = MOST, LONG = 4 };
#endif

/* All tasks of the program are there before the first begins, so each sub-graph comes in front of those behind it. */
static void all_words_are_right_when_all_is_submitted_first(void **state)
{
	(void)state;
	run_all_words(start_hierarchy(1, 0), LONGEST, 1);
}

static void all_words_are_right_with_several_workers(void **state)
{
	(void)state;
	run_all_words(start_hierarchy(4, 0), LONG, 0);
	run_all_words(start_hierarchy(4, 3), LONG - 1, 0);
}

static void all_words_are_right_with_accelerators(void **state)
{
	struct heddle_config config = small_config();
	(void)state;
	config.n_cpu = 1;
	config.n_emulated = 2;
	run_all_words(start_with(&config), LONG - 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_words_are_right_when_all_is_submitted_first),
	    cmocka_unit_test(all_words_are_right_with_several_workers),
	    cmocka_unit_test(all_words_are_right_with_accelerators),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
