/* A kernel may fail: tasks that depend on it are cancelled, the wait returns the error, and the runtime goes on. */
#include <heddle.h>
#include <math.h>
#include <stdio.h>

static int root(heddle_context *c) /* RW x */
{
	double *x = heddle_ptr(c, 0);
	if (*x < 0)
		return heddle_fail(c, 1, "%g has no real square root", *x);
	*x = sqrt(*x);
	return 0;
}

static int copy(heddle_context *c) /* W y, R x */
{
	*(double *)heddle_ptr(c, 0) = *(const double *)heddle_ptr(c, 1);
	return 0;
}

static int expect(const char *what, int status, int expected)
{
	printf("%-28s %s%s%s\n", what, heddle_status_name(status), status ? ": " : "",
	       status ? heddle_last_error() : "");
	return status != expected;
}

/* Computes y = sqrt(x) in two tasks. */
static int submit_both(heddle_runtime *rt, heddle_codelet *tasks[2], heddle_data *x, heddle_data *y)
{
	int status = heddle_submit(rt, heddle_call(tasks[0]), heddle_rw(x));
	return status ? status : heddle_submit(rt, heddle_call(tasks[1]), heddle_w(y), heddle_r(x));
}

int main(void)
{
	double x = -4, y = 0, z = 9;
	heddle_runtime *rt;
	heddle_data *xd, *yd, *zd;
	if (heddle_start(NULL, &rt) || heddle_variable(rt, &x, sizeof x, &xd) ||
	    heddle_variable(rt, &y, sizeof y, &yd) || heddle_variable(rt, &z, sizeof z, &zd)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	heddle_codelet *tasks[] = {heddle_codelet_new(rt, .name = "root", .cpu = root),
	                           heddle_codelet_new(rt, .name = "copy", .cpu = copy)};
	int wrong = !tasks[0] || !tasks[1] || submit_both(rt, tasks, xd, yd) != 0;
	wrong |= heddle_submit(rt, heddle_call(tasks[0]), heddle_rw(zd)) != 0; /* does not depend on the other tasks */
	wrong |= expect("waiting", heddle_wait_all(rt), HEDDLE_E_KERNEL);
	wrong |= expect("reading y", heddle_acquire(yd, HEDDLE_R), HEDDLE_E_CANCELLED);

	/* Once x is written, it can be used again. */
	wrong |= expect("writing x", heddle_acquire(xd, HEDDLE_W), HEDDLE_OK);
	x = 4;
	wrong |= heddle_release(xd) != 0 || submit_both(rt, tasks, xd, yd) != 0;
	wrong |= expect("waiting again", heddle_wait_all(rt), HEDDLE_OK);

	wrong |= expect("a task without its datum", heddle_submit(rt, heddle_call(tasks[0]), heddle_rw(NULL)),
	                HEDDLE_E_INVALID);

	wrong |= heddle_unregister(xd) != 0 || heddle_unregister(yd) != 0 || heddle_unregister(zd) != 0;
	wrong |= expect("stopping", heddle_stop(rt), HEDDLE_OK);
	printf("sqrt(4) = %g, sqrt(9) = %g\n", y, z);
	return wrong || y != 2 || z != 3;
}
