/* A policy of the program's own: last in, first out. The data of a task that was just released may still be in the
 * cache. */
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>

struct stack {
	heddle_task *top; /* heddle_task_link(top)->next is the next one below, and so on */
	unsigned reach;   /* how far a worker looks for a task that it can run */
	size_t n, deepest;
};

static int stack_create(heddle_sched *sched, void **state)
{
	struct stack *s = calloc(1, sizeof *s);
	if (!s)
		return heddle_sched_fail(sched, HEDDLE_E_MEMORY, "no memory for a stack");
	s->reach = (unsigned)heddle_sched_option(sched, "reach");
	*state = s;
	return 0;
}

static void stack_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct stack *s = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) { /* tasks have their own links, so nothing is allocated and nothing can fail */
		heddle_task_link(batch[i])->next = s->top;
		s->top = batch[i];
	}
	s->n += n;
	s->deepest = s->n > s->deepest ? s->n : s->deepest;
}

static heddle_task *stack_pick(void *state, unsigned worker)
{
	struct stack *s = state;
	heddle_task **from = &s->top;
	for (unsigned i = 0; *from && i < s->reach; i++) {
		heddle_task *t = *from;
		if (heddle_task_can_run(t, worker)) {
			*from = heddle_task_link(t)->next;
			s->n--;
			return t;
		}
		from = &heddle_task_link(t)->next;
	}
	return NULL; /* the worker asks again when a task has ended or become ready */
}

static void stack_report(void *state, heddle_sched *sched)
{
	heddle_sched_report(sched, "deepest stack", (double)((struct stack *)state)->deepest, "tasks");
}

static const struct heddle_option options[] = {
    {"reach", "64", "tasks", "how far a worker looks for a task that it can run", 1, 1e6},
    {0},
};
static const struct heddle_policy stack_policy = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "stack",
    .summary = "last in, first out",
    .source = "this program",
    .options = options,
    .create = stack_create,
    .destroy = free,
    .ready = stack_ready,
    .pick = stack_pick,
    .report = stack_report,
};

static char order[16]; /* one letter per task, as they run */
static size_t n_run;

static int write_letter(heddle_context *c)
{
	order[n_run++] = heddle_get(c, 0, char);
	return 0;
}

static void print(void *arg, const char *name, double value, const char *unit)
{
	(void)arg;
	printf("%s: %g %s\n", name, value, unit);
}

int main(void)
{
	struct heddle_config config;
	heddle_runtime *rt;
	if (heddle_policy_register(&stack_policy) || heddle_config_init(&config)) /* before the runtime starts */
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	config.sched = "stack";
	config.sched_options = "reach=8";
	config.n_cpu = config.caller_works = 1; /* one worker, the caller, so that the policy alone decides the order */
	if (heddle_start(&config, &rt))
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	heddle_codelet *letter = heddle_codelet_new(rt, .name = "letter", .cpu = write_letter);
	for (const char *c = "elddeh"; *c; c++)
		heddle_submit(rt, heddle_call(letter), heddle_bytes(c, 1));
	int status = heddle_wait_all(rt);
	printf("%s\n", order);
	status = status ? status : heddle_policy_report(rt, print, NULL);
	return heddle_stop(rt) || status || order[0] != 'h' || order[5] != 'e';
}
