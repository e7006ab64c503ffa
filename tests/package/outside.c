/* A program outside Heddle's tree: run.sh compiles it against the installed package in both ways. Prints the
 * version. */
#include <heddle.h>
#include <stdio.h>

static int add(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += heddle_get(c, 0, long);
	return 0;
}

int main(void)
{
	heddle_runtime *rt;
	if (heddle_start(NULL, &rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "add", .cpu = add, .model = HEDDLE_MODEL_NONE);
	long sum = 0;
	heddle_data *data;
	int status = codelet ? heddle_variable(rt, &sum, sizeof sum, &data) : -1;
	for (long i = 1; !status && i <= 100; i++)
		status = heddle_submit(rt, heddle_call(codelet), heddle_rw(data), heddle_value(i));
	if (!status)
		status = heddle_unregister(data);
	if (!status)
		status = heddle_stop(rt);
	if (status)
		fprintf(stderr, "%s\n", heddle_last_error());
	else
		printf("%s\n", heddle_version());
	return status || sum != 5050;
}
