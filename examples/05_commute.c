/* COMMUTE: tasks update one datum, one at a time, in the order in which they become ready. */
#include <heddle.h>
#include <stdio.h>

enum { BLOCKS = 32, LENGTH = 1000, BINS = 10 };

static int generate(heddle_context *c) /* W block; seed */
{
	unsigned *x = heddle_ptr(c, 0), state = heddle_get(c, 0, unsigned);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++) {
		state = state * 1664525u + 1013904223u;
		x[i] = state >> 8;
	}
	return 0;
}

static int count(heddle_context *c) /* COMMUTE histogram, R block */
{
	long *bins = heddle_ptr(c, 0);
	const unsigned *x = heddle_ptr(c, 1);
	for (size_t i = 0; i < heddle_extent(c, 1, 0); i++)
		bins[x[i] % BINS]++;
	return 0;
}

static int submit_all(heddle_runtime *rt, heddle_data *histogram)
{
	heddle_codelet *generate_task = heddle_codelet_new(rt, .name = "generate", .cpu = generate);
	heddle_codelet *count_task = heddle_codelet_new(rt, .name = "count", .cpu = count);
	int status = generate_task && count_task ? 0 : -1;
	for (unsigned i = 0; !status && i < BLOCKS; i++) {
		heddle_data *block; /* a temporary: Heddle allocates it, and frees it after its last task */
		status = heddle_vector(rt, NULL, LENGTH, sizeof(unsigned), &block);
		if (!status)
			status = heddle_submit(rt, heddle_call(generate_task), heddle_w(block), heddle_value(i));
		/* With heddle_rw in place of heddle_commute, block 1 could not be counted before block 0. */
		if (!status)
			status = heddle_submit(rt, heddle_call(count_task), heddle_commute(histogram), heddle_r(block));
		if (!status)
			status = heddle_unregister_async(block);
	}
	return status;
}

int main(void)
{
	long bins[BINS] = {0}, total = 0;
	heddle_runtime *rt;
	heddle_data *histogram;
	if (heddle_start(NULL, &rt) || heddle_vector(rt, bins, BINS, sizeof *bins, &histogram) ||
	    submit_all(rt, histogram) || heddle_unregister(histogram) || heddle_stop(rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	for (size_t i = 0; i < BINS; i++) {
		printf("%ld ", bins[i]);
		total += bins[i];
	}
	printf("in all %ld of %d\n", total, BLOCKS * LENGTH);
	return total != BLOCKS * LENGTH;
}
