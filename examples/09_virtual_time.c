/* Virtual time: the makespan of a program on a machine that is not here. No kernel runs and no frame is allocated. */
#include <heddle.h>
#include <math.h>
#include <stdio.h>

enum { N_FRAMES = 100, FRAME = 1920 * 1080, CPU = 0, GPU = 1 /* the classes of haswell-k40m */ };

static int never(heddle_context *c)
{
	return heddle_fail(c, 1, "virtual time runs no kernels");
}

/* The time of the kernel, in us. Without such a function, the tables and rates of the platform are used. */
static double sharpen_time(const struct heddle_size *size, unsigned class_id)
{
	return size->bytes * (class_id == GPU ? 1e-3 : 5e-2);
}

static double encode_time(const struct heddle_size *size, unsigned class_id)
{
	return class_id == CPU ? size->bytes * 2e-3 : (double)NAN; /* GPUs cannot run it */
}

static int submit_frames(heddle_runtime *rt)
{
	heddle_codelet *sharpen =
	    heddle_codelet_new(rt, .name = "sharpen", .cpu = never, .model = HEDDLE_MODEL_GIVEN, .time = sharpen_time);
	heddle_codelet *encode =
	    heddle_codelet_new(rt, .name = "encode", .cpu = never, .model = HEDDLE_MODEL_GIVEN, .time = encode_time);
	int failed = !sharpen || !encode;
	heddle_data *frame;
	for (int i = 0; i < N_FRAMES && !failed; i++)
		failed = heddle_vector(rt, NULL, FRAME, 1, &frame) ||
		         heddle_submit(rt, heddle_call(sharpen), heddle_rw(frame)) ||
		         heddle_submit(rt, heddle_call(encode), heddle_r(frame));
	return failed || heddle_wait_all(rt);
}

/* The makespan under the policy `sched`, in ms. Negative: there was an error. */
static double simulate(const char *sched)
{
	struct heddle_config config;
	struct heddle_stats stats;
	heddle_runtime *rt;
	int failed = heddle_config_init(&config);
	config.platform = "haswell-k40m"; /* the only thing that a program must change */
	config.sched = sched;
	if (failed || heddle_start(&config, &rt))
		return -1;
	failed = submit_frames(rt) || heddle_runtime_stats(rt, &stats);
	return heddle_stop(rt) || failed ? -1 : stats.makespan / 1e3;
}

int main(void)
{
	double eager = simulate("eager"), dmda = simulate("dmda");
	if (eager < 0 || dmda < 0)
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	printf("20 cores, 4 GPUs: eager %.1f ms, dmda %.1f ms, %.2f times faster\n", eager, dmda, eager / dmda);
	return dmda >= eager; /* dmda should win: it gives the GPUs the tasks that cores are slow at */
}
