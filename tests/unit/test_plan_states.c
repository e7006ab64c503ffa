/* Every state that a datum with plans can come to when its tasks read it, change it, write it or fail, searched
 * completely: in each of them every task must end as the model of the random tests says, and leave the state that it
 * says. */
#include "../random/plans_model.h"
#include "internals.h"
#include "program.h"

/* The datum has two plans, P and Q, of two children each; the first child of P has a plan R of two children. */
enum { ROOT, P0, P1, Q0, Q1, R0, R1, HANDLES, LENGTH = 8 };

/* What a task does to its handle. */
static const struct {
	enum heddle_mode mode;
	int fails;
} deeds[] = {{HEDDLE_R, 0}, {HEDDLE_RW, 0}, {HEDDLE_W, 0}, {HEDDLE_RW, 1}, {HEDDLE_W, 1}};
enum { DEEDS = sizeof deeds / sizeof *deeds, ACTIONS = HANDLES * DEEDS, MOST = 4096, LONGEST = 24 };

/* What tells states apart: for each handle that has the value whose pieces that are, and whether it is known to have
 * none; and which plans can be read. */
struct key {
	uint8_t of[HANDLES], active;
};

struct search {
	heddle_runtime *rt;
	heddle_codelet *codelet[2]; /* the second fails */
	heddle_plan *plan[3];
	struct program program; /* its nodes: the model */
	uint64_t x[LENGTH];
	size_t n_seen;
	struct {
		struct key key;
		uint8_t path[LONGEST], n; /* actions that lead there from the beginning */
	} seen[MOST];
};

/* --- Copies that are held up, and waits that are interrupted ------------------------------------------------------ */

static struct {
	atomic_int held; /* copies wait until this is 0 */
	int said, calls; /* of on_wait */
} copies;

int hd_copy_host(const struct heddle_copy *copy)
{
	while (copies.held)
		sched_yield();
	memcpy(copy->to.base, copy->from.base, copy->from.n[0] * copy->from.elem_size);
	return 0;
}

/* A wait that the first call does not end needs the copies. */
static int end_wait(void *arg)
{
	(void)arg;
	if (++copies.calls > 1)
		copies.held = 0;
	return copies.said;
}

/* --- The datum ---------------------------------------------------------------------------------------------------- */

static void add_plan(struct search *s, int i, int parent)
{
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	struct node *nodes = s->program.nodes;
	assert_ok(heddle_plan_create(nodes[parent].handle, &halves, &s->plan[i]));
	for (int k = 0; k < 2; k++)
		nodes[s->program.n_nodes++] = (struct node){.handle = heddle_plan_child(s->plan[i], (size_t)k),
		                                            .plan = s->plan[i],
		                                            .parent = parent,
		                                            .depth = nodes[parent].depth + 1};
}

static void open_search(struct search *s, int on_accelerator)
{
	struct heddle_config config = small_config();
	memset(s, 0, sizeof *s);
	config.n_cpu = 1;
	config.n_emulated = on_accelerator;
	config.on_wait = end_wait;
	s->rt = start_with(&config);
	s->codelet[0] = on_accelerator ? heddle_codelet_new(s->rt, .name = "works", .emulated = nothing)
	                               : heddle_codelet_new(s->rt, .name = "works", .cpu = nothing);
	s->codelet[1] = on_accelerator ? heddle_codelet_new(s->rt, .name = "fails", .emulated = fail_always)
	                               : heddle_codelet_new(s->rt, .name = "fails", .cpu = fail_always);
	s->program.nodes[ROOT].parent = -1;
	s->program.n_nodes = 1;
	assert_ok(heddle_vector(s->rt, s->x, LENGTH, sizeof *s->x, &s->program.nodes[ROOT].handle));
	add_plan(s, 0, ROOT);
	add_plan(s, 1, ROOT);
	add_plan(s, 2, P0);
}

/* --- One step ----------------------------------------------------------------------------------------------------- */

/* How the model says that the task ends. */
static int act_on_model(struct program *p, int h, enum heddle_mode mode, int fails)
{
	int status = fails ? HEDDLE_E_KERNEL : 0;
	if (!comes_to(p, h, (int)mode))
		status = HEDDLE_E_CANCELLED;
	if (mode != HEDDLE_R)
		p->nodes[h].is_void = status != 0;
	return status;
}

static const struct hd_layout *layout_of(const heddle_data *d)
{
	return d->extra ? d->extra->layout : NULL;
}

/* Fills the key for a handle that has the value, and for the pieces that have it instead. The runtime must be in the
 * state that the model says. */
static void look_at(struct search *s, int h, struct key *key)
{
	const struct node *n = &s->program.nodes[h];
	const struct hd_layout *l = layout_of(n->handle);
	const heddle_plan *scattered = l ? l->scattered : NULL;
	assert_ptr_equal(scattered, n->scattered);
	assert_int_equal(n->handle->poisoned != 0, scattered ? n->tried : n->is_void);
	if (scattered || !n->is_void) /* what is void may have copies yet, which nobody reads */
		assert_int_equal(n->handle->n_valid != 0, !scattered);
	key->of[h] = (uint8_t)(1 + (n->handle->poisoned != 0));
	for (int i = 0; i < 3; i++)
		key->of[h] |= (uint8_t)((scattered == s->plan[i]) << (2 + i));
	for (int c = 0; c < HANDLES && scattered; c++)
		if (s->program.nodes[c].plan == scattered)
			look_at(s, c, key);
}

static void act(struct search *s, int action, struct key *key)
{
	int h = action / DEEDS, fails = deeds[action % DEEDS].fails;
	enum heddle_mode mode = deeds[action % DEEDS].mode;
	heddle_task *t;
	assert_ok(heddle_submit(s->rt, heddle_call(s->codelet[fails]), heddle_access(mode, s->program.nodes[h].handle),
	                        heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), act_on_model(&s->program, h, mode, fails));
	heddle_task_release(t);
	heddle_wait_all(s->rt); /* says again what has failed */
	assert_ok(heddle_selfcheck(s->rt));
	memset(key, 0, sizeof *key);
	hd_core_enter(s->rt);
	look_at(s, ROOT, key);
	for (int i = 0; i < 3; i++)
		key->active |= (uint8_t)(s->plan[i]->active << i);
	hd_core_leave(s->rt);
}

/* --- All states --------------------------------------------------------------------------------------------------- */

static void note(struct search *s, const struct key *key, size_t from, int action)
{
	size_t k = 0;
	while (k < s->n_seen && memcmp(&s->seen[k].key, key, sizeof *key) != 0)
		k++;
	if (k < s->n_seen)
		return;
	assert_true(k < MOST && s->seen[from].n < LONGEST);
	s->seen[k] = s->seen[from];
	s->seen[k].key = *key;
	s->seen[k].path[s->seen[k].n++] = (uint8_t)action;
	s->n_seen++;
}

enum { WRITE_ALL = ROOT * DEEDS + 2 };

/* Goes to every state that can be reached, and from each of them does all that can be done there. */
static void search(struct search *s, int on_accelerator)
{
	struct key key;
	open_search(s, on_accelerator);
	act(s, WRITE_ALL, &key);
	s->seen[s->n_seen++].key = key;
	for (size_t from = 0; from < s->n_seen; from++)
		for (int action = 0; action < ACTIONS; action++) {
			act(s, WRITE_ALL, &key);
			for (int i = 0; i < s->seen[from].n; i++)
				act(s, s->seen[from].path[i], &key);
			assert_memory_equal(&key, &s->seen[from].key, sizeof key);
			act(s, action, &key);
			note(s, &key, from, action);
		}
	assert_int_equal(s->n_seen, 44);
}

static void close_search(struct search *s)
{
	struct key key;
	act(s, WRITE_ALL, &key);
	assert_ok(heddle_unregister(s->program.nodes[ROOT].handle));
	heddle_wait_all(s->rt);
	assert_ok(heddle_stop(s->rt));
}

static void every_state_is_that_of_the_model(void **state)
{
	static struct search s;
	(void)state;
	for (int on_accelerator = 0; on_accelerator < 2; on_accelerator++) {
		search(&s, on_accelerator);
		close_search(&s);
	}
}

static void go_to(struct search *s, size_t k)
{
	struct key key;
	act(s, WRITE_ALL, &key);
	for (int i = 0; i < s->seen[k].n; i++)
		act(s, s->seen[k].path[i], &key);
}

/* Begins to copy all that is a value to main memory. */
static void prefetch_values(struct search *s, int h)
{
	const struct node *n = &s->program.nodes[h];
	if (!n->scattered && !n->is_void)
		assert_ok(heddle_prefetch(n->handle, 0));
	for (int c = 0; c < HANDLES && n->scattered; c++)
		if (s->program.nodes[c].plan == n->scattered)
			prefetch_values(s, c);
}

/* The program is to write a handle, and its wait is to end as soon as it may. */
static int acquire_briefly(struct search *s, int h)
{
	heddle_data *d = s->program.nodes[h].handle;
	copies.held = 1;
	prefetch_values(s, ROOT);
	copies.calls = 0;
	copies.said = 1;
	int status = heddle_acquire(d, HEDDLE_W);
	copies.held = 0;
	copies.said = 0;
	if (!status)
		assert_ok(heddle_release(d));
	assert_ok(heddle_wait_all(s->rt));
	assert_ok(heddle_selfcheck(s->rt));
	return status;
}

/* What can be read is what the model says. */
static void read_all(struct search *s)
{
	for (int h = 0; h < HANDLES; h++) {
		heddle_data *d = s->program.nodes[h].handle;
		int status = heddle_acquire(d, HEDDLE_R), wanted = comes_to(&s->program, h, HEDDLE_R);
		assert_int_equal(status, wanted ? 0 : HEDDLE_E_CANCELLED);
		if (!status)
			assert_ok(heddle_release(d));
	}
}

/* Whether something in the datum has no value. */
static int has_void(const struct search *s, int h)
{
	const struct node *n = &s->program.nodes[h];
	int is_void = !n->scattered && n->is_void;
	for (int c = 0; c < HANDLES && n->scattered && !is_void; c++)
		is_void = s->program.nodes[c].plan == n->scattered && has_void(s, c);
	return is_void;
}

/* A wait of the program that is interrupted costs no value, whatever is being copied: if it is to write a handle, and
 * pieces that cannot be brought together are dropped for that, it is not interrupted any more. Each such wait takes a
 * tenth of a second, so only the states are tried in which something has no value; in all others nothing is dropped
 * before the program's turn has come. */
static void interrupted_waits_cost_nothing(void **state)
{
	static struct search s;
	size_t n_waits = 0;
	(void)state;
	search(&s, 1);
	for (size_t k = 0; k < s.n_seen; k++)
		for (int h = 0; h < HANDLES; h += 1 + (h == P0 || h == Q0)) { /* P1, Q1 are like P0, Q0 here */
			go_to(&s, k);
			if (!has_void(&s, ROOT) || !s.program.nodes[ROOT].scattered)
				break;
			int status = acquire_briefly(&s, h);
			n_waits += copies.calls > 0;
			if (!status) {
				comes_to(&s.program, h, HEDDLE_W);
				s.program.nodes[h].is_void = 0;
			}
			read_all(&s);
		}
	assert_true(n_waits > 0);
	close_search(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_state_is_that_of_the_model),
	    cmocka_unit_test(interrupted_waits_cost_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
