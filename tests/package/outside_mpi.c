/* A program outside Heddle's tree that uses libheddle-mpi, on two ranks that are threads. Prints the version. */
#include <heddle/mpi.h>
#include <stdio.h>

static int add(heddle_context *c)
{
	*(int *)heddle_ptr(c, 0) += *(int *)heddle_ptr(c, 1);
	return 0;
}

/* Rank 1 gets 40 of rank 0. */
static int program(heddle_mpi *m, void *arg)
{
	int mine = heddle_mpi_rank(m) ? 2 : 40, status = 0;
	heddle_codelet *c = heddle_codelet_new(heddle_mpi_runtime(m), .name = "add", .cpu = add);
	struct heddle_part part = {.base = &mine, .elem_size = sizeof mine};
	heddle_mpi_data *d[2];
	for (int i = 0; i < 2 && !status; i++)
		status = heddle_mpi_register(m, (uint64_t)i, i, &part, &d[i]);
	if (!status)
		status = heddle_mpi_submit(m, heddle_call(c), heddle_mpi_rw(d[1]), heddle_mpi_r(d[0]));
	for (int i = 0; i < 2 && !status; i++)
		status = heddle_mpi_unregister(d[i]);
	if (!status)
		status = heddle_mpi_wait_all(m);
	if (heddle_mpi_rank(m))
		*(int *)arg = mine;
	return status;
}

int main(void)
{
	int sum = 0;
	if (heddle_mpi_loop(NULL, NULL, 2, program, &sum)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	printf("%s\n", sum == 42 ? heddle_version() : "?");
	return 0;
}
