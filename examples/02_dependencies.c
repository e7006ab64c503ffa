/* Dependencies follow from how tasks use their data: the result is as if the tasks ran in the order of submission. */
#include <heddle.h>
#include <stdio.h>

static int set(heddle_context *c) /* W x; value */
{
	*(long *)heddle_ptr(c, 0) = heddle_get(c, 0, long);
	return 0;
}

static int multiply(heddle_context *c) /* RW x, R y: x = x * y */
{
	*(long *)heddle_ptr(c, 0) *= *(const long *)heddle_ptr(c, 1);
	return 0;
}

static int add(heddle_context *c) /* W x, R y, R z: x = y + z */
{
	*(long *)heddle_ptr(c, 0) = *(const long *)heddle_ptr(c, 1) + *(const long *)heddle_ptr(c, 2);
	return 0;
}

static int submit_all(heddle_runtime *rt, heddle_data *a, heddle_data *b, heddle_data *sum)
{
	heddle_codelet *set_task = heddle_codelet_new(rt, .name = "set", .cpu = set);
	heddle_codelet *multiply_task = heddle_codelet_new(rt, .name = "multiply", .cpu = multiply);
	heddle_codelet *add_task = heddle_codelet_new(rt, .name = "add", .cpu = add);
	if (!set_task || !multiply_task || !add_task)
		return -1;
	long two = 2, three = 3;
	int status = heddle_submit(rt, heddle_call(set_task), heddle_w(a), heddle_value(two));
	/* This task shares no data with the first: both may run at once. */
	if (!status)
		status = heddle_submit(rt, heddle_call(set_task), heddle_w(b), heddle_value(three));
	for (int i = 0; !status && i < 10; i++) /* a chain: each task needs the a that the task before has written */
		status = heddle_submit(rt, heddle_call(multiply_task), heddle_rw(a), heddle_r(b), heddle_priority(10));
	if (!status)
		status = heddle_submit(rt, heddle_call(add_task), heddle_w(sum), heddle_r(a), heddle_r(b));
	/* This task writes b, which the task above reads, so it waits for that one. Ready tasks with a larger priority
	 * go first. */
	if (!status)
		status = heddle_submit(rt, heddle_call(set_task), heddle_w(b), heddle_value(two), heddle_priority(-1));
	return status;
}

int main(void)
{
	long a = 0, b = 0, sum = 0;
	heddle_data *a_data, *b_data, *sum_data;
	heddle_runtime *rt;
	if (heddle_start(NULL, &rt) || heddle_variable(rt, &a, sizeof a, &a_data) ||
	    heddle_variable(rt, &b, sizeof b, &b_data) || heddle_variable(rt, &sum, sizeof sum, &sum_data) ||
	    submit_all(rt, a_data, b_data, sum_data) || heddle_wait_all(rt) || heddle_unregister(a_data) ||
	    heddle_unregister(b_data) || heddle_unregister(sum_data) || heddle_stop(rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	printf("a = 2 * 3^10 = %ld, sum = a + 3 = %ld, then b = %ld\n", a, sum, b);
	return a != 118098 || sum != 118101 || b != 2;
}
