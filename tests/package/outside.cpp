// The program of outside.c in C++: a policy of its own too, whose names must not clash. Prints the version.
#include <cstdio>
#include <heddle.h>

static int add(heddle_context *c)
{
	*static_cast<long *>(heddle_ptr(c, 0)) += heddle_get(c, 0, long);
	return 0;
}

static heddle_task *first;

static int create(heddle_sched *, void **state)
{
	*state = &first;
	return 0;
}

static void destroy(void *) {}

static void ready(void *, heddle_task *const *batch, size_t n, int)
{
	for (size_t i = 0; i < n; i++) {
		heddle_task_links *link = heddle_task_link(batch[i]);
		link->next = first;
		first = batch[i];
	}
}

static heddle_task *pick(void *, unsigned worker)
{
	heddle_task *t = first;
	if (!t || !heddle_task_can_run(t, worker))
		return nullptr;
	first = heddle_task_link(t)->next;
	return t;
}

int main()
{
	heddle_policy policy = {};
	policy.abi = HEDDLE_POLICY_ABI;
	policy.name = "outside";
	policy.summary = policy.source = "this program";
	policy.create = create;
	policy.destroy = destroy;
	policy.ready = ready;
	policy.pick = pick;
	heddle_config config;
	heddle_runtime *rt = nullptr;
	int status = heddle_policy_register(&policy);
	status = status ? status : heddle_config_init(&config);
	config.sched = "outside";
	status = status ? status : heddle_start(&config, &rt);
	if (status) {
		std::fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	heddle_codelet_desc desc = {};
	desc.name = "add";
	desc.cpu = add;
	desc.model = HEDDLE_MODEL_NONE;
	heddle_codelet *codelet = heddle_codelet_new_of(rt, &desc);
	long sum = 0;
	heddle_data *data = nullptr;
	status = codelet ? heddle_variable(rt, &sum, sizeof sum, &data) : -1;
	for (long i = 1; !status && i <= 100; i++)
		status = heddle_submit(rt, heddle_call(codelet), heddle_rw(data), heddle_value(i));
	status = status ? status : heddle_unregister(data);
	status = status ? status : heddle_stop(rt);
	if (status)
		std::fprintf(stderr, "%s\n", heddle_last_error());
	else
		std::printf("%s\n", heddle_version());
	return status || sum != 5050;
}
