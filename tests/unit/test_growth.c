/* Costs that must not grow faster than what causes them: many devices, many data of one task, many codelets, many data
 * that the program holds, many tasks that wait. */
#include "instructions.h"

static heddle_runtime *start_virtual(const struct heddle_platform *platform)
{
	struct heddle_config config;
	heddle_runtime *rt;
	must(heddle_config_init(&config));
	config.sched = "eager";
	must(heddle_start_on(&config, platform, 1, &rt));
	return rt;
}

static int no_kernel(heddle_context *c)
{
	(void)c;
	return 0;
}

static double one_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 1;
}

static heddle_codelet *codelet_named(heddle_runtime *rt, const char *name)
{
	const struct heddle_codelet_desc desc = {
	    .name = name, .cpu = no_kernel, .model = HEDDLE_MODEL_GIVEN, .time = one_us};
	heddle_codelet *codelet;
	must(heddle_codelet_create(rt, &desc, &codelet));
	return codelet;
}

/* --- Devices ------------------------------------------------------------------------------------------------------ */

static void add_emulated(struct heddle_platform *platform, size_t n)
{
	for (size_t i = 0; i < n; i++)
		must(heddle_platform_add_emulated(platform, 1 << 20, 1000, 1, 1));
}

static struct heddle_platform *machine_with_devices(size_t n)
{
	struct heddle_platform *platform;
	must(heddle_platform_discover(1, &platform));
	add_emulated(platform, n);
	return platform;
}

struct devices {
	struct heddle_platform *platform;
	size_t n;
};

static void *prepare_to_add(size_t n)
{
	struct devices *devices = malloc(sizeof *devices);
	*devices = (struct devices){machine_with_devices(0), n};
	return devices;
}

static void add_devices(void *scene)
{
	struct devices *devices = scene;
	add_emulated(devices->platform, devices->n);
}

static void *prepare_devices(size_t n)
{
	return machine_with_devices(n);
}

static void start_on_devices(void *platform)
{
	start_virtual(platform);
}

static void *prepare_to_stop(size_t n)
{
	return start_virtual(machine_with_devices(n));
}

static void stop_devices(void *rt)
{
	must(heddle_stop(rt));
}

/* --- One task with many data -------------------------------------------------------------------------------------- */

enum order { FORWARD, BACKWARD };

struct large_tasks {
	heddle_runtime *rt;
	size_t n_items;
	struct heddle_item *items[2]; /* by order */
};

static struct heddle_item *items_of(heddle_codelet *codelet, heddle_data *const *data, size_t n, enum order order)
{
	struct heddle_item *items = malloc((n + 1) * sizeof *items);
	items[0] = heddle_call(codelet);
	for (size_t i = 0; i < n; i++)
		items[1 + i] = heddle_rw(data[order == FORWARD ? i : n - 1 - i]);
	return items;
}

/* Each datum twice in the same task, if `twice`. */
static struct large_tasks *prepare_tasks(size_t n, int twice)
{
	struct large_tasks *tasks = malloc(sizeof *tasks);
	heddle_data **data = malloc(2 * n * sizeof *data);
	tasks->rt = start_virtual(machine_with_devices(0));
	tasks->n_items = n + 1;
	for (size_t i = 0; i < n; i++)
		if (twice && i >= n / 2)
			data[i] = data[i - n / 2];
		else
			must(heddle_vector(tasks->rt, NULL, 1, 1, &data[i]));
	heddle_codelet *codelet = codelet_named(tasks->rt, "many data");
	for (int order = FORWARD; order <= BACKWARD; order++)
		tasks->items[order] = items_of(codelet, data, n, (enum order)order);
	free(data);
	return tasks;
}

static void *prepare_large_tasks(size_t n)
{
	return prepare_tasks(n, 0);
}

static void *prepare_aliases(size_t n)
{
	return prepare_tasks(n, 1);
}

static void run_large_tasks(void *scene)
{
	struct large_tasks *tasks = scene;
	for (int order = FORWARD; order <= BACKWARD; order++)
		must(heddle_submit_items(tasks->rt, tasks->n_items, tasks->items[order]));
	must(heddle_wait_all(tasks->rt));
}

/* --- Many codelets ------------------------------------------------------------------------------------------------ */

static void *prepare_codelets(size_t n)
{
	heddle_runtime *rt = start_virtual(machine_with_devices(0));
	char name[32];
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "codelet %zu", i);
		codelet_named(rt, name);
	}
	return rt;
}

static void make_one_codelet(void *rt)
{
	codelet_named(rt, "one more");
}

/* --- Many data that the program holds ----------------------------------------------------------------------------- */

struct held {
	size_t n;
	heddle_data *data[];
};

static void *prepare_held(size_t n)
{
	heddle_runtime *rt = start_virtual(machine_with_devices(0));
	struct held *held = malloc(sizeof *held + n * sizeof *held->data);
	held->n = n;
	for (size_t i = 0; i < n; i++) {
		must(heddle_variable(rt, NULL, 1, &held->data[i]));
		must(heddle_acquire(held->data[i], HEDDLE_RW));
	}
	return held;
}

static void release_all(void *scene)
{
	const struct held *held = scene;
	for (size_t i = 0; i < held->n; i++)
		must(heddle_release(held->data[i]));
}

/* --- Many tasks that wait for one datum --------------------------------------------------------------------------- */

static void *prepare_waiting(size_t n)
{
	heddle_runtime *rt = start_virtual(machine_with_devices(0));
	heddle_codelet *codelet = codelet_named(rt, "waits");
	heddle_data *data;
	must(heddle_variable(rt, NULL, 1, &data));
	must(heddle_acquire(data, HEDDLE_RW));
	for (size_t i = 0; i < n; i++)
		must(heddle_submit(rt, heddle_call(codelet), heddle_rw(data)));
	return rt;
}

static void dump_to_nowhere(void *rt)
{
	FILE *out = fopen("/dev/null", "w");
	must(out ? 0 : HEDDLE_E_IO);
	heddle_dump(rt, out);
	fclose(out);
}

/* --- Commuting tasks ---------------------------------------------------------------------------------------------- */

struct commuting {
	heddle_runtime *rt;
	heddle_codelet *codelet;
	size_t n;
	struct heddle_item *items; /* of a task on all data */
	heddle_data **data;
};

static void *prepare_commuting(size_t n)
{
	struct commuting *c = malloc(sizeof *c);
	*c = (struct commuting){.rt = start_virtual(machine_with_devices(0)), .n = n};
	c->codelet = codelet_named(c->rt, "commutes");
	c->items = malloc((n + 1) * sizeof *c->items);
	c->data = malloc(n * sizeof *c->data);
	c->items[n] = heddle_call(c->codelet);
	for (size_t i = 0; i < n; i++) {
		must(heddle_vector(c->rt, NULL, 1, 1, &c->data[i]));
		must(heddle_submit(c->rt, heddle_call(c->codelet), heddle_w(c->data[i])));
		c->items[i] = heddle_commute(c->data[i]);
	}
	must(heddle_wait_all(c->rt));
	return c;
}

/* Four tasks that all need all tokens. */
static void commute(void *scene)
{
	struct commuting *c = scene;
	for (int i = 0; i < 4; i++)
		must(heddle_submit_items(c->rt, c->n + 1, c->items));
	must(heddle_wait_all(c->rt));
}

/* One that gets the tokens one by one. */
static void commute_after_many(void *scene)
{
	struct commuting *c = scene;
	for (size_t i = 0; i < c->n; i++)
		must(heddle_submit(c->rt, heddle_call(c->codelet), heddle_commute(c->data[i])));
	must(heddle_submit_items(c->rt, c->n + 1, c->items));
	must(heddle_wait_all(c->rt));
}

/* --- Many events of one task -------------------------------------------------------------------------------------- */

struct events {
	size_t n, made;
	heddle_event *events[];
};

static int make_events(heddle_context *c)
{
	struct events *e = *(struct events *const *)heddle_value_ptr(c, 0);
	while (e->made < e->n && (e->events[e->made] = heddle_detach(c)))
		e->made++;
	return e->made < e->n;
}

static void *prepare_events(size_t n)
{
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_task *other;
	struct events *e = calloc(1, sizeof *e + n * sizeof *e->events);
	must(heddle_config_init(&config));
	config.n_cpu = 1;
	config.bind = 0;
	config.sched = "eager";
	must(heddle_start(&config, &rt));
	e->n = n;
	heddle_codelet *detaches = heddle_codelet_new(rt, .name = "detaches", .cpu = make_events);
	heddle_codelet *nothing = heddle_codelet_new(rt, .name = "nothing", .cpu = no_kernel);
	must(heddle_submit(rt, heddle_call(detaches), heddle_value(e)));
	must(heddle_submit(rt, heddle_call(nothing), heddle_out(&other)));
	must(heddle_task_wait(other)); /* by the same worker, behind the first */
	return e;
}

static void fulfill_in_order(void *scene)
{
	struct events *e = scene;
	for (size_t i = 0; i < e->n; i++)
		must(heddle_fulfill(e->events[i], 0));
}

/* --- Plans of plans ----------------------------------------------------------------------------------------------- */

struct plans {
	heddle_runtime *rt;
	heddle_codelet *codelet;
	size_t n;
	heddle_data *data[]; /* each is the only child of a plan of the one before */
};

static void *prepare_plans(size_t n)
{
	struct plans *p = malloc(sizeof *p + (n + 1) * sizeof *p->data);
	const struct heddle_filter whole = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 1};
	static char buffer[8];
	heddle_plan *plan;
	p->rt = start_virtual(machine_with_devices(0));
	p->codelet = codelet_named(p->rt, "uses");
	p->n = n;
	must(heddle_vector(p->rt, buffer, sizeof buffer, 1, &p->data[0]));
	for (size_t i = 0; i < n; i++) {
		must(heddle_plan_create(p->data[i], &whole, &plan));
		p->data[i + 1] = heddle_plan_child(plan, 0);
	}
	return p;
}

static void use_each(void *scene)
{
	const struct plans *p = scene;
	for (size_t i = 0; i <= p->n; i++)
		must(heddle_submit(p->rt, heddle_call(p->codelet), heddle_rw(p->data[i])));
	must(heddle_wait_all(p->rt));
}

/* --- Comparisons -------------------------------------------------------------------------------------------------- */

static const struct work works[] = {
    {"add_devices", prepare_to_add, add_devices},
    {"start_on_devices", prepare_devices, start_on_devices},
    {"stop_devices", prepare_to_stop, stop_devices},
    {"large_tasks", prepare_large_tasks, run_large_tasks},
    {"tasks_with_aliases", prepare_aliases, run_large_tasks},
    {"one_codelet", prepare_codelets, make_one_codelet},
    {"release_all", prepare_held, release_all},
    {"dump_to_nowhere", prepare_waiting, dump_to_nowhere},
    {"commute", prepare_commuting, commute},
    {"commute_after_many", prepare_commuting, commute_after_many},
    {"fulfill_in_order", prepare_events, fulfill_in_order},
    {"use_each", prepare_plans, use_each},
};

static void assert_growth(const char *work, size_t n, double times)
{
	double few = instructions_of(work, n), many = instructions_of(work, 4 * n);
	if (many > times * few)
		fail_msg("%s: %.0f instructions for %zu, %.0f for %zu", work, few, n, many, 4 * n);
}

/* Four times as much may cost four times as much, and somewhat more: n log n. Squares would be sixteen times. */
static void assert_linear(const char *work, size_t n)
{
	assert_growth(work, n, 6);
}

static void many_devices_are_added_in_linear_time(void **state)
{
	(void)state;
	assert_linear("add_devices", 100);
}

static void many_devices_are_started_and_stopped_in_linear_time(void **state)
{
	(void)state;
	assert_linear("start_on_devices", 250);
	assert_linear("stop_devices", 250);
}

static void tasks_with_many_data_take_linear_time(void **state)
{
	(void)state;
	assert_linear("large_tasks", 500);
	assert_linear("tasks_with_aliases", 500);
}

/* One more codelet after 2000 others may cost 1.5 times the instructions of one after 100 others. */
static void one_more_codelet_costs_the_same_after_many(void **state)
{
	(void)state;
	double few = instructions_of("one_codelet", 100), many = instructions_of("one_codelet", 2000);
	if (many > 1.5 * few)
		fail_msg("%.0f instructions after 100, %.0f after 2000", few, many);
}

static void many_held_data_are_released_in_linear_time(void **state)
{
	(void)state;
	assert_linear("release_all", 1000);
}

static void many_waiting_tasks_are_described_in_linear_time(void **state)
{
	(void)state;
	assert_linear("dump_to_nowhere", 1000);
}

static void commuting_tasks_with_many_data_take_linear_time(void **state)
{
	(void)state;
	assert_linear("commute", 500);
	assert_linear("commute_after_many", 500);
}

static void many_events_are_fulfilled_in_linear_time(void **state)
{
	(void)state;
	assert_linear("fulfill_in_order", 1000);
}

/* A task passes each handle above its own: n tasks at n depths may cost n squared, but not n cubed. */
static void handles_at_all_depths_cost_their_depths(void **state)
{
	(void)state;
	assert_growth("use_each", 100, 24);
}

int main(int argc, char **argv)
{
	if (run_counted(argc, argv, works, sizeof works / sizeof *works))
		return 0;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(many_devices_are_added_in_linear_time),
	    cmocka_unit_test(many_devices_are_started_and_stopped_in_linear_time),
	    cmocka_unit_test(tasks_with_many_data_take_linear_time),
	    cmocka_unit_test(one_more_codelet_costs_the_same_after_many),
	    cmocka_unit_test(many_held_data_are_released_in_linear_time),
	    cmocka_unit_test(many_waiting_tasks_are_described_in_linear_time),
	    cmocka_unit_test(commuting_tasks_with_many_data_take_linear_time),
	    cmocka_unit_test(many_events_are_fulfilled_in_linear_time),
	    cmocka_unit_test(handles_at_all_depths_cost_their_depths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
