/* Which copies leave a full memory: those that the submitted tasks need last. In virtual time, where it is known what
 * is on the accelerator when. All tasks of a sequence are submitted before the first of them begins. */
#include "internals.h"
#include "adapt/trust.h"
#include "memory/eviction.h"
#include "memory/eviction_rule.h"
#include "chance.h"
#include "full_memory.h"

/* --- By next use -------------------------------------------------------------------------------------------------- */

/* Room for two. When 2 comes, 0 was used longest ago, but it is 1 that no task needs any more. */
static void submit_where_the_oldest_is_needed(const struct machine *m, heddle_data *const *d)
{
	WORK(m, 10, heddle_r(d[0]));
	WORK(m, 10, heddle_r(d[1]));
	WORK(m, 10, heddle_r(d[2]));
	WORK(m, 10, heddle_r(d[0]));
}

static void copy_that_nobody_needs_leaves_first(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	start_full(&m, 3, d);
	submit_where_the_oldest_is_needed(&m, d);
	OK(heddle_wait_all(m.rt));
	assert_true(is_there(d[0]) && !is_there(d[1]) && is_there(d[2]));
	end(&m, 3, 1);
}

static void least_recently_used_copy_leaves_if_the_program_says_so(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .eviction = "lru"};
	heddle_data *d[3];
	start_full(&m, 3, d);
	submit_where_the_oldest_is_needed(&m, d);
	end(&m, 4, 2);
}

/* Both copies are needed again, 1 later than 0. */
static void copy_that_is_needed_last_leaves(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	start_full(&m, 3, d);
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[2]));
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	end(&m, 4, 2); /* 0 and 2, of which nobody needs one any more, stay until 1 comes back */
}

/* 1 is needed later than 0, but by the more urgent task. */
static void more_urgent_task_is_expected_to_come_first(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .sched = "prio"};
	heddle_data *d[3];
	start_full(&m, 3, d);
	WORK(&m, 10, heddle_r(d[0]), heddle_r(d[1]), heddle_priority(9));
	WORK(&m, 10, heddle_r(d[2]), heddle_priority(8));
	WORK(&m, 10, heddle_r(d[0]), heddle_priority(1));
	WORK(&m, 10, heddle_r(d[1]), heddle_priority(2));
	end(&m, 4, 2);
}

/* The task that needs 0 waits for the one before it, which is submitted earlier than the one that needs 1. */
static void task_that_is_ready_is_expected_before_one_that_waits(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 2};
	heddle_data *d[4];
	start_full(&m, 4, d);
	WORK(&m, 500, heddle_rw(d[3]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[0]), heddle_r(d[1]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[3]), heddle_r(d[0]), heddle_on(1)); /* at 500 */
	WORK(&m, 10, heddle_r(d[2]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(1));
	end(&m, 5, 3); /* 0 leaves for 2, and comes back with 3 */
}

/* --- Where the policy runs tasks in another order ----------------------------------------------------------------- */

/* Under a policy that heeds no priorities, tasks whose priorities grow. Every second one reads 0; those between read
 * one after the other of the first `n` other data, and then those again. With room for four, 0 would stay if the data
 * that were used longest ago left. By their priorities, the task that reads 0 next is expected last. */
static void submit_against_the_order(const struct machine *m, heddle_data *const *d, int n)
{
	for (int i = 0; i < 2 * n; i++) {
		WORK(m, 10, heddle_r(d[0]), heddle_priority(2 * i));
		WORK(m, 10, heddle_r(d[1 + i % n]), heddle_priority(2 * i + 1));
	}
}

static uint64_t moved_against_the_order(const char *eviction, int n)
{
	struct machine m = {.gpus = 1, .units = 4, .eviction = eviction};
	heddle_data *d[17];
	start_full(&m, 17, d);
	submit_against_the_order(&m, d, n);
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	uint64_t transfers = machine_stats(&m).transfers;
	OK(heddle_stop(m.rt));
	return transfers;
}

static void last_use_counts_when_the_order_has_proved_wrong(void **state)
{
	(void)state;
	uint64_t lru = moved_against_the_order("lru", 16), next_use = moved_against_the_order("next_use", 16);
	assert_int_equal(lru, 1 + 2 * 16);
	assert_true(next_use <= lru + 4);
}

/* What speaks against the order is forgotten after a while: then tasks come in the order of submission. */
static void order_gets_another_chance(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 4};
	heddle_data *d[17];
	const struct hd_memory *gpu;
	start_full(&m, 17, d);
	gpu = &m.rt->memories[1];
	submit_against_the_order(&m, d, 5);
	OK(heddle_wait_all(m.rt));
	assert_true(gpu->distrusted);
	assert_int_equal(gpu->trust->patience, 4 * m.units * UNIT);
	for (int i = 0; i < 64; i++)
		WORK(&m, 10, heddle_r(d[i % 5]));
	OK(heddle_wait_all(m.rt));
	assert_false(gpu->distrusted);
	assert_int_equal(gpu->trust->patience, 4 * m.units * UNIT);
	OK(heddle_selfcheck(m.rt));
	OK(heddle_stop(m.rt));
}

/* --- What costs less ---------------------------------------------------------------------------------------------- */

/* The value of 0 is nowhere else, and 0 is needed last. To write it back would cost a copy more. */
static void copy_with_another_elsewhere_leaves_before_one_that_is_needed_later(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	start_full(&m, 3, d);
	WORK(&m, 10, heddle_w(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[2]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[0]));
	OK(heddle_wait_all(m.rt));
	assert_true(is_there(d[0]) && !heddle_data_valid_on(d[0], 0));
	end(&m, 3, 2);
}

/* The value of 0 is nowhere else, but the tasks that need 0 wait for another one, while the task that needs 1 is ready:
 * 0 leaves, although it must be written back. */
static void copy_for_a_task_that_waits_leaves_before_one_for_a_task_that_is_ready(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 2};
	heddle_data *d[4];
	start_full(&m, 4, d);
	WORK(&m, 500, heddle_rw(d[3]), heddle_on(0));
	WORK(&m, 10, heddle_w(d[0]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[2]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[0]), heddle_rw(d[3]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[0]), heddle_rw(d[3]), heddle_on(1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(task_of(trace, 4)->start == task_of(trace, 3)->end); /* 1 is still there */
	heddle_trace_free(trace);
	OK(heddle_selfcheck(m.rt));
	OK(heddle_stop(m.rt));
}

/* When 2 comes, the value of 0 is nowhere else, and the task that needs it waits; `readers` of 1 are ready. Returns
 * whether 1 leaves. The readers may run on the card alone, or on all of the `gpus`, unless the other one is foreign to
 * them; it is busy for long. */
static int copy_for_ready_tasks_leaves(unsigned gpus, int foreign, int on_card, int readers)
{
	struct machine m = {.cpus = 1, .gpus = gpus, .foreign = foreign, .units = 2};
	m.kernels = "kernels:\n- {codelet: read, class: cpu, bandwidth_mbs: 1000}\n- {codelet: read, class: gpu, "
	            "bandwidth_mbs: 1000}\n";
	heddle_data *d[5];
	start_full(&m, 5, d);
	heddle_codelet *read = heddle_codelet_new(m.rt, .name = "read", .cpu = machine_kernel, .cuda = machine_kernel);
	assert_non_null(read);
	WORK(&m, 900, heddle_rw(d[3]), heddle_on(0));
	if (gpus > 1 && !foreign)
		WORK(&m, 900, heddle_r(d[4]), heddle_on(2));
	WORK(&m, 10, heddle_w(d[0]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(1));
	WORK(&m, 100, heddle_r(d[2]), heddle_on(1));
	for (int i = 0; i < readers; i++)
		if (on_card)
			WORK(&m, 10, heddle_r(d[1]), heddle_on(1));
		else
			OK(heddle_submit(m.rt, heddle_call(read), heddle_r(d[1])));
	WORK(&m, 10, heddle_r(d[0]), heddle_rw(d[3]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	int left = !heddle_data_valid_on(d[0], 0);
	OK(heddle_stop(m.rt));
	return left;
}

static void copy_that_may_be_needed_on_another_card_leaves_before_one_that_must_be_written_back(void **state)
{
	(void)state;
	assert_true(copy_for_ready_tasks_leaves(2, 0, 0, 2));
	assert_false(copy_for_ready_tasks_leaves(2, 0, 1, 2));
	assert_false(copy_for_ready_tasks_leaves(2, 1, 0, 2));
	assert_false(copy_for_ready_tasks_leaves(1, 0, 0, 2));
}

static void copy_that_many_tasks_may_need_stays(void **state)
{
	(void)state;
	assert_true(copy_for_ready_tasks_leaves(2, 0, 0, 16));
	assert_false(copy_for_ready_tasks_leaves(2, 0, 0, 17));
}

/* The value of 0 is nowhere else, but no task needs it: the copy that is needed stays. */
static void copy_that_nobody_needs_is_written_back_before_one_that_is_needed_leaves(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	start_full(&m, 3, d);
	WORK(&m, 10, heddle_w(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[2]));
	WORK(&m, 10, heddle_r(d[1]));
	OK(heddle_wait_all(m.rt));
	assert_true(heddle_data_valid_on(d[0], 0) && !is_there(d[0]) && is_there(d[1]));
	end(&m, 3, 1);
}

/* --- Needed elsewhere --------------------------------------------------------------------------------------------- */

/* 0 is needed before 1, but by the other accelerator. */
static void copy_that_is_needed_elsewhere_leaves_first(void **state)
{
	(void)state;
	struct machine m = {.gpus = 2, .units = 2};
	heddle_data *d[4];
	start_full(&m, 4, d);
	WORK(&m, 200, heddle_r(d[3]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[0]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[0]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[2]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	assert_true(!is_there(d[0]) && is_there(d[1]) && is_there(d[2]));
	end(&m, 5, 1);
}

/* When 2 comes, both cards have 0, which one more task will read, on any of them: the other card has it for that. */
static void copy_for_a_reader_that_another_copy_serves_leaves_first(void **state)
{
	(void)state;
	struct machine m = {.gpus = 2, .units = 2};
	heddle_data *d[3];
	start_full(&m, 3, d);
	WORK(&m, 200, heddle_r(d[0]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[0]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(0));
	WORK(&m, 500, heddle_r(d[2]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	assert_true(!is_there(d[0]) && is_there(d[1]) && is_there(d[2]));
	end(&m, 4, 1);
}

/* When 2 comes, the only copy of 0 is needed by the other accelerator, to which it can go straight, and 1 here. Submits
 * the task that needs 0 first, or the one that needs 1, and returns whether 0 has had to leave. With `split` there is a
 * window in the copy. */
static int only_copy_leaves(int needed_first, int split)
{
	struct machine m = {
	    .gpus = 2,
	    .units = 2,
	    .links = "- {from: memory1, to: memory2, bandwidth_mbs: 1000, latency_us: 5}\n",
	};
	heddle_data *d[4];
	heddle_plan *plan;
	start_full(&m, 4, d);
	OK(heddle_vector(m.rt, NULL, UNIT / 4, 4, &d[0]));
	OK(heddle_plan_create(d[0], &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, &plan));
	WORK(&m, 10, heddle_w(d[0]), heddle_on(0));
	if (split)
		WORK(&m, 10, heddle_r(heddle_plan_child(plan, 0)), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 200, heddle_r(d[3]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[2]), heddle_on(0), heddle_priority(1));
	for (int i = 0; i < 2; i++)
		if (i == needed_first)
			WORK(&m, 10, heddle_r(d[1]), heddle_on(0));
		else
			WORK(&m, 10, heddle_r(d[0]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	int left = heddle_data_valid_on(d[0], 0);
	assert_true(is_there(d[0]) == !left);
	assert_int_equal(machine_stats(&m).transfers, 5);
	OK(heddle_stop(m.rt));
	return left;
}

static void only_copy_of_what_is_needed_elsewhere_first_stays(void **state)
{
	(void)state;
	assert_false(only_copy_leaves(1, 0));
	assert_false(only_copy_leaves(1, 1));
}

static void only_copy_of_what_is_needed_elsewhere_last_leaves(void **state)
{
	(void)state;
	assert_true(only_copy_leaves(0, 0));
	assert_true(only_copy_leaves(0, 1));
}

/* --- Being written ------------------------------------------------------------------------------------------------ */

/* When 2 comes, 0 is needed before 1, but only as a place for another value. */
static void copy_that_will_be_written_anew_leaves_first(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	start_full(&m, 3, d);
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[2]));
	WORK(&m, 10, heddle_w(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	end(&m, 3, 2); /* 0, and 2 when 0 is written */
}

/* The CPU writes 0 anew from HOP to 100 + HOP. The accelerator, which has the former value, needs the room meanwhile:
 * it is free at once. */
static void copy_that_is_being_replaced_leaves_without_a_transfer(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 1};
	heddle_data *d[2];
	start_full(&m, 2, d);
	WORK(&m, 10, heddle_w(d[0]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 100, heddle_rw(d[0]), heddle_on(0));
	WORK(&m, 50, heddle_on(1));
	WORK(&m, 10, heddle_w(d[1]), heddle_on(1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_transfers, 1); /* to main memory, for the CPU */
	assert_true(task_of(trace, 3)->start == task_of(trace, 2)->end);
	heddle_trace_free(trace);
	end(&m, 1, 0);
}

/* --- Tight and loose ---------------------------------------------------------------------------------------------- */

/* Room for eight. The lists are made when the fourth copy comes, with a task in the graph that waits; and dropped when
 * one more comes after all but that have ended. */
static void memory_is_tight_while_it_is_nearly_full(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 8};
	heddle_data *d[6];
	start_full(&m, 6, d);
	const struct hd_memory *card = &m.rt->memories[1];
	for (int i = 0; i < 3; i++)
		WORK(&m, 10, heddle_r(d[i]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	assert_false(card->tight);
	OK(heddle_acquire(d[4], HEDDLE_RW));
	WORK(&m, 10, heddle_r(d[4]), heddle_r(d[0]), heddle_on(1)); /* waits for the release */
	WORK(&m, 10, heddle_r(d[3]), heddle_on(1));
	OK(heddle_acquire(d[3], HEDDLE_RW)); /* after that task */
	OK(heddle_selfcheck(m.rt));
	assert_true(card->tight);
	hd_core_enter(m.rt);
	assert_true(hd_next_use(d[0], 1) != HD_NEVER && hd_next_use(d[1], 1) == HD_NEVER);
	hd_core_leave(m.rt);
	OK(heddle_release(d[3]));
	OK(heddle_release(d[4]));
	OK(heddle_wait_all(m.rt));
	for (int i = 0; i < 5; i++)
		OK(heddle_unregister(d[i]));
	OK(heddle_selfcheck(m.rt));
	assert_true(card->tight); /* it is asked when a copy comes */
	WORK(&m, 10, heddle_r(d[5]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	assert_false(card->tight);
	OK(heddle_stop(m.rt));
}

/* One copy of eight is there when a task needs eight others at once. */
static void memory_that_must_let_copies_leave_is_tight_wherever_its_mark_is(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 8};
	heddle_data *d[9];
	start_full(&m, 9, d);
	WORK(&m, 10, heddle_r(d[8]));
	OK(heddle_wait_all(m.rt));
	assert_false(m.rt->memories[1].tight);
	WORK(&m, 10, heddle_r(d[0]), heddle_r(d[1]), heddle_r(d[2]), heddle_r(d[3]), heddle_r(d[4]), heddle_r(d[5]),
	     heddle_r(d[6]), heddle_r(d[7]));
	OK(heddle_wait_all(m.rt));
	assert_true(m.rt->memories[1].tight);
	assert_true(m.rt->memories[1].mark == UNIT);
	end(&m, 9, 1);
}

/* --- Against all replicas, ranked one by one ---------------------------------------------------------------------- */

enum { MANY = 100 };

/* The datum to evict next: its replica has the greatest rank of all that are idle; among equals the oldest, and the
 * data were used in their order. */
static heddle_data *first_by_rank(const struct machine *m, heddle_data *const *d)
{
	heddle_data *first = NULL;
	uint64_t greatest = 0;
	for (int i = 0; i < MANY; i++) {
		struct hd_replica *r = &d[i]->replicas[1];
		uint64_t rank = r->place ? m->rt->rule->rank(r, hd_is_clean(r)) : 0;
		if (rank > greatest) {
			greatest = rank;
			first = d[i];
		}
	}
	return first;
}

/* Copies of all data are there. Of the tasks that read some of them, some are ready and others wait, with priorities
 * by chance; between evictions others may come. */
static void evict_all_in_order(const char *eviction, unsigned seed)
{
	struct machine m = {.gpus = 1, .units = MANY + 1, .eviction = eviction};
	heddle_data *d[MANY + 1];
	struct hd_rng rng;
	int n_left = 0;
	hd_rng_seed(&rng, seed);
	start_full(&m, MANY + 1, d);
	for (int i = 0; i < MANY; i++)
		WORK(&m, 10, heddle_r(d[i]));
	OK(heddle_wait_all(m.rt));
	OK(heddle_acquire(d[MANY], HEDDLE_RW));
	for (int n = MANY; n > 0; n--) {
		uint32_t more = n == MANY ? MANY / 2 : below(&rng, 16) / 15;
		for (uint32_t i = 0; i < more; i++) {
			heddle_data *read = d[below(&rng, MANY)];
			int priority = (int)below(&rng, 8);
			if (below(&rng, 2))
				WORK(&m, 10, heddle_r(read), heddle_priority(priority));
			else
				WORK(&m, 10, heddle_r(read), heddle_r(d[MANY]), heddle_priority(priority));
		}
		OK(heddle_selfcheck(m.rt));
		hd_core_enter(m.rt);
		if (more) /* else a candidate may be passed over, because the new task needs it */
			hd_evict_choose_anew(&m.rt->memories[1]);
		heddle_data *first = first_by_rank(&m, d);
		assert_int_equal(hd_evict_one(m.rt, 1, 0), first ? 0 : HEDDLE_PENDING); /* the rest is pinned */
		assert_true(!first || !first->replicas[1].ptr);
		n_left += first != NULL;
		hd_core_leave(m.rt);
	}
	assert_true(n_left > MANY * 3 / 4);
	OK(heddle_release(d[MANY]));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	OK(heddle_stop(m.rt));
}

static void copies_leave_in_the_order_of_their_ranks(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		evict_all_in_order("next_use", seed);
		evict_all_in_order("lru", seed);
	}
}

/* --- The setting -------------------------------------------------------------------------------------------------- */

static void unknown_rule_is_refused(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt;
	OK(heddle_config_init(&config));
	config.platform = "haswell-k40m";
	config.eviction = "fifo";
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "next_use"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(copy_that_nobody_needs_leaves_first),
	    cmocka_unit_test(least_recently_used_copy_leaves_if_the_program_says_so),
	    cmocka_unit_test(copy_that_is_needed_last_leaves),
	    cmocka_unit_test(more_urgent_task_is_expected_to_come_first),
	    cmocka_unit_test(task_that_is_ready_is_expected_before_one_that_waits),
	    cmocka_unit_test(last_use_counts_when_the_order_has_proved_wrong),
	    cmocka_unit_test(order_gets_another_chance),
	    cmocka_unit_test(copy_for_a_task_that_waits_leaves_before_one_for_a_task_that_is_ready),
	    cmocka_unit_test(copy_with_another_elsewhere_leaves_before_one_that_is_needed_later),
	    cmocka_unit_test(copy_that_may_be_needed_on_another_card_leaves_before_one_that_must_be_written_back),
	    cmocka_unit_test(copy_that_many_tasks_may_need_stays),
	    cmocka_unit_test(copy_that_nobody_needs_is_written_back_before_one_that_is_needed_leaves),
	    cmocka_unit_test(copy_that_is_needed_elsewhere_leaves_first),
	    cmocka_unit_test(copy_for_a_reader_that_another_copy_serves_leaves_first),
	    cmocka_unit_test(only_copy_of_what_is_needed_elsewhere_first_stays),
	    cmocka_unit_test(only_copy_of_what_is_needed_elsewhere_last_leaves),
	    cmocka_unit_test(copy_that_will_be_written_anew_leaves_first),
	    cmocka_unit_test(copy_that_is_being_replaced_leaves_without_a_transfer),
	    cmocka_unit_test(memory_is_tight_while_it_is_nearly_full),
	    cmocka_unit_test(memory_that_must_let_copies_leave_is_tight_wherever_its_mark_is),
	    cmocka_unit_test(copies_leave_in_the_order_of_their_ranks),
	    cmocka_unit_test(unknown_rule_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
