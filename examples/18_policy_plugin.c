/* A plug-in with a policy: of the oldest tasks, a worker takes the one that needs the fewest bytes moved.
 *
 *   cc -shared -fPIC 18_policy_plugin.c -o nearest.so $(pkg-config --cflags --libs heddle)
 *   heddle --plugin ./nearest.so compare cholesky:n=9600,tile=960 -p haswell-k40m -s all -o map.png
 *   HEDDLE_PLUGINS=./nearest.so HEDDLE_SCHED=nearest ./any-program */
#include <heddle.h>
#include <heddle/plugin.h>
#include <stdlib.h>

struct line {
	heddle_task *first, *last; /* heddle_task_link(first)->next is the one behind it, and so on */
	const struct heddle_platform *platform;
	unsigned reach;
};

static int create(heddle_sched *sched, void **state)
{
	struct line *line = calloc(1, sizeof *line);
	if (!line)
		return heddle_sched_fail(sched, HEDDLE_E_MEMORY, "no memory for a line of tasks");
	line->platform = heddle_sched_platform(sched);
	line->reach = (unsigned)heddle_sched_option(sched, "reach");
	*state = line;
	return 0;
}

static void ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct line *line = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		heddle_task_link(batch[i])->next = NULL;
		if (line->first)
			heddle_task_link(line->last)->next = batch[i];
		else
			line->first = batch[i];
		line->last = batch[i];
	}
}

/* Takes out the task that stands behind `before`, or is the first one if that is NULL. */
static heddle_task *take(struct line *line, heddle_task *before)
{
	heddle_task **from = before ? &heddle_task_link(before)->next : &line->first, *t = *from;
	*from = heddle_task_link(t)->next;
	if (line->last == t)
		line->last = before;
	return t;
}

static heddle_task *pick(void *state, unsigned worker)
{
	struct line *line = state;
	unsigned node = line->platform->workers[worker].node, seen = 0;
	heddle_task *before = NULL, *before_best = NULL;
	uint64_t least = UINT64_MAX;
	/* look on as long as none was found, so that no worker starves behind tasks that it cannot run */
	for (heddle_task *t = line->first; t && (seen < line->reach || least == UINT64_MAX); seen++) {
		uint64_t missing = heddle_task_can_run(t, worker) ? heddle_task_missing_bytes(t, node) : UINT64_MAX;
		if (missing < least) {
			least = missing;
			before_best = before;
		}
		before = t;
		t = heddle_task_link(t)->next;
	}
	return least < UINT64_MAX ? take(line, before_best) : NULL;
}

static const struct heddle_option options[] = {
    {"reach", "32", "tasks", "how many of the oldest tasks a worker looks at", 1, 1e6},
    {.name = NULL},
};
static const struct heddle_policy nearest = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "nearest",
    .summary = "of the oldest tasks, the one that needs the fewest bytes moved",
    .source = "an example of Heddle's",
    .options = options,
    .create = create,
    .destroy = free,
    .ready = ready,
    .pick = pick,
};

static int start(void)
{
	return heddle_policy_register(&nearest);
}

const struct heddle_plugin heddle_plugin = {HEDDLE_PLUGIN_ABI, "nearest", "the policy nearest", start};
