/* Events: tasks that end when a thread of the program has read a block of a file, and tasks that compute on the block.
 *
 * The kernel only asks for the read: its worker computes on blocks that are there while others are on their way. */
#include <heddle.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_BLOCKS = 64, N = 1000 };

struct request {
	struct request *next;
	heddle_event *event;
	double *to;
	long offset;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct request *first;
	FILE *file;
	int closed;
} reader = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *read_blocks(void *unused) /* in a thread of the program */
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&reader.lock);
		while (!reader.first && !reader.closed)
			pthread_cond_wait(&reader.changed, &reader.lock);
		struct request *r = reader.first;
		reader.first = r ? r->next : NULL;
		pthread_mutex_unlock(&reader.lock);
		if (!r)
			return NULL;
		if (fseek(reader.file, r->offset, SEEK_SET) || fread(r->to, sizeof *r->to, N, reader.file) != N)
			heddle_event_fail(r->event, 1, "there is no block at byte %ld", r->offset);
		else
			heddle_fulfill(r->event, 0); /* the task ends now */
		free(r);
	}
}

static int read_block(heddle_context *c) /* W block */
{
	struct request *r = malloc(sizeof *r);
	heddle_event *event = r ? heddle_detach(c) : NULL; /* the task will not end with this kernel */
	if (!event) {
		free(r);
		return heddle_fail(c, 1, "no memory for a request");
	}
	/* The address stays valid until the event is fulfilled, the context does not. */
	*r = (struct request){.event = event, .to = heddle_ptr(c, 0), .offset = heddle_get(c, 0, long)};
	pthread_mutex_lock(&reader.lock);
	r->next = reader.first;
	reader.first = r;
	pthread_cond_signal(&reader.changed);
	pthread_mutex_unlock(&reader.lock);
	return 0;
}

static int add_block(heddle_context *c) /* R block, COMMUTE sum */
{
	const double *block = heddle_ptr(c, 0);
	for (int i = 0; i < N; i++)
		*(double *)heddle_ptr(c, 1) += block[i];
	return 0;
}

static int submit(heddle_runtime *rt, heddle_data *sum)
{
	heddle_codelet *read = heddle_codelet_new(rt, .name = "read", .cpu = read_block);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_block);
	int status = read && add ? 0 : -1;
	for (long b = 0; b < N_BLOCKS && !status; b++) {
		long offset = b * N * (long)sizeof(double);
		heddle_data *block;
		status = heddle_vector(rt, NULL, N, sizeof(double), &block); /* a temporary */
		if (!status)
			status = heddle_submit(rt, heddle_call(read), heddle_w(block), heddle_value(offset));
		if (!status) /* waits for the read, as for any task that writes the block */
			status = heddle_submit(rt, heddle_call(add), heddle_r(block), heddle_commute(sum));
		if (!status)
			status = heddle_unregister_async(block);
	}
	return status;
}

int main(void)
{
	double sum = 0, expected = 0, x;
	reader.file = tmpfile();
	for (int i = 0; reader.file && i < N_BLOCKS * N; i++) {
		x = i % 100;
		expected += x;
		fwrite(&x, sizeof x, 1, reader.file);
	}
	pthread_t thread;
	heddle_runtime *rt;
	heddle_data *sum_data;
	if (!reader.file || pthread_create(&thread, NULL, read_blocks, NULL))
		return 1;
	if (heddle_start(NULL, &rt) || heddle_variable(rt, &sum, sizeof sum, &sum_data) || submit(rt, sum_data) ||
	    heddle_stop(rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	pthread_mutex_lock(&reader.lock);
	reader.closed = 1;
	pthread_cond_signal(&reader.changed);
	pthread_mutex_unlock(&reader.lock);
	pthread_join(thread, NULL);
	fclose(reader.file);
	printf("sum of %d numbers: %.0f\n", N_BLOCKS * N, sum);
	return sum != expected;
}
