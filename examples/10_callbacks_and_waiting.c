/* Single tasks: the program waits for one, orders two that share no data, and is called when one has ended. */
#include <heddle.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int ended; /* tasks whose end the callback has seen */

static void count_end(void *arg, int status)
{
	if (status == HEDDLE_OK)
		atomic_fetch_add((atomic_int *)arg, 1);
}

static int square(heddle_context *c) /* RW x */
{
	long *x = heddle_ptr(c, 0);
	*x *= *x;
	return 0;
}

static int look(heddle_context *c) /* no data, only an address */
{
	const long *x = heddle_get(c, 0, long *);
	printf("look: %ld\n", *x);
	return *x != 144;
}

int main(void)
{
	long x = 12, y = 3;
	heddle_runtime *rt;
	heddle_data *xd, *yd;
	if (heddle_start(NULL, &rt) || heddle_variable(rt, &x, sizeof x, &xd) ||
	    heddle_variable(rt, &y, sizeof y, &yd)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	heddle_codelet *square_task = heddle_codelet_new(rt, .name = "square", .cpu = square);
	heddle_codelet *look_task = heddle_codelet_new(rt, .name = "look", .cpu = look);
	if (!square_task || !look_task)
		return 1;

	/* heddle_out: the program gets the task, and gives it back with heddle_task_release. */
	heddle_task *first, *second;
	long *address = &x;
	int wrong = heddle_submit(rt, heddle_call(square_task), heddle_rw(xd), heddle_on(0), heddle_out(&first)) != 0;
	/* heddle_after: an order that no datum implies. */
	wrong |= heddle_submit(rt, heddle_call(look_task), heddle_value(address), heddle_after(first),
	                       heddle_out(&second)) != 0;
	/* heddle_then: the worker that ends the task calls the function, which may submit tasks but must not wait. */
	for (int i = 0; i < 3; i++)
		wrong |=
		    heddle_submit(rt, heddle_call(square_task), heddle_rw(yd), heddle_then(count_end, &ended)) != 0;

	wrong |= heddle_task_wait(second) != 0; /* waits for this task only */
	wrong |= !heddle_task_done(first) || !heddle_task_done(second);
	heddle_task_release(first);
	heddle_task_release(second);
	wrong |= heddle_wait_all(rt) != 0;
	printf("callbacks: %d\n", atomic_load(&ended));
	wrong |= atomic_load(&ended) != 3;
	wrong |= heddle_unregister(xd) != 0 || heddle_unregister(yd) != 0 || heddle_stop(rt) != 0;
	printf("x = %ld, y = %ld\n", x, y);
	return wrong || x != 144 || y != 6561;
}
