/* The task graphs, the same for every runtime.
 *
 * Include BENCH_RUNTIME (on_heddle.h, on_openmp.h ...) first. It has bench_task0() to bench_task4(w, r, r,
 * r), which submit a task that reads and writes datum w and reads the data r. Data are numbered from 0.
 */
#ifndef BENCH_SHAPES_H
#define BENCH_SHAPES_H

#include "bench.h"

/* A shape of graph. `extra` is a second number that some shapes need beside the size. */
struct shape {
	const char *name;
	size_t (*n_data)(size_t size, size_t extra);
	size_t (*n_tasks)(size_t size, size_t extra);
	void (*submit)(size_t size, size_t extra);
};

static inline size_t shape_size(size_t size, size_t extra)
{
	(void)extra;
	return size;
}

static inline size_t shape_one(size_t size, size_t extra)
{
	(void)size, (void)extra;
	return 1;
}

/* Tasks without data. */
static inline void shape_independent(size_t size, size_t extra)
{
	(void)extra;
	for (size_t i = 0; i < size; i++)
		bench_task0();
}

/* Each task writes one of `extra` data in turn. `extra` is large, so that a task hardly ever waits for another one. */
static inline void shape_private(size_t size, size_t extra)
{
	for (size_t i = 0; i < size; i++)
		bench_task1(i % extra);
}

static inline size_t shape_extra(size_t size, size_t extra)
{
	(void)size;
	return extra;
}

/* Each task waits for the one before. */
static inline void shape_chain(size_t size, size_t extra)
{
	(void)extra;
	for (size_t i = 0; i < size; i++)
		bench_task1(0);
}

/* size x size tasks. Each writes a datum of its own and reads those of its upper and left neighbours. */
static inline void shape_wavefront(size_t size, size_t extra)
{
	(void)extra;
	for (size_t i = 0; i < size; i++) {
		for (size_t j = 0; j < size; j++) {
			size_t here = i * size + j;
			if (i > 0 && j > 0)
				bench_task3(here, here - size, here - 1);
			else if (i > 0 || j > 0)
				bench_task2(here, i > 0 ? here - size : here - 1);
			else
				bench_task1(here);
		}
	}
}

static inline size_t shape_square(size_t size, size_t extra)
{
	(void)extra;
	return size * size;
}

/* The graph of the right-looking tiled Cholesky factorisation of size x size tiles. */
static inline void shape_cholesky(size_t size, size_t extra)
{
	(void)extra;
	for (size_t k = 0; k < size; k++) {
		bench_task1(k * size + k);
		for (size_t m = k + 1; m < size; m++)
			bench_task2(m * size + k, k * size + k);
		for (size_t n = k + 1; n < size; n++) {
			bench_task2(n * size + n, n * size + k);
			for (size_t m = n + 1; m < size; m++)
				bench_task3(m * size + n, m * size + k, n * size + k);
		}
	}
}

static inline size_t shape_cholesky_tasks(size_t size, size_t extra)
{
	(void)extra;
	return size * (size + 1) * (size + 2) / 6;
}

/* `size` tasks on one datum: a writer, then `extra` readers, each of which writes a datum of its own, then a writer
 * ... */
static inline void shape_readers(size_t size, size_t extra)
{
	for (size_t i = 0; i < size; i++) {
		size_t place = i % (extra + 1);
		if (place == 0)
			bench_task1(0);
		else
			bench_task2(place, 0);
	}
}

static inline size_t shape_readers_data(size_t size, size_t extra)
{
	(void)size;
	return extra + 1;
}

/* Task Bench's stencil_1d (Slaughter et al., SC 2020): `size` steps of `extra` tasks, each reading its own datum and
 * those of its neighbours as the step before left them. Two generations of data take turns. */
static inline void shape_stencil(size_t size, size_t extra)
{
	for (size_t step = 0; step < size; step++) {
		size_t to = step % 2 * extra, from = extra - to;
		for (size_t i = 0; i < extra; i++) {
			if (i > 0 && i + 1 < extra)
				bench_task4(to + i, from + i, from + i - 1, from + i + 1);
			else if (extra > 1)
				bench_task3(to + i, from + i, i > 0 ? from + i - 1 : from + i + 1);
			else
				bench_task2(to + i, from + i);
		}
	}
}

static inline size_t shape_stencil_data(size_t size, size_t extra)
{
	(void)size;
	return 2 * extra;
}

/* Each task reads two of SHAPE_POOL data, which nobody writes, and writes one of as many others, so that it waits for
 * the task that wrote the same datum SHAPE_POOL tasks before. */
enum { SHAPE_POOL = 256 };

static inline void shape_pool(size_t size, size_t extra)
{
	static uint64_t state = 1;
	(void)extra;
	for (size_t i = 0; i < size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		size_t a = state >> 33 & (SHAPE_POOL - 1), b = state >> 48 & (SHAPE_POOL - 1);
		bench_task3(SHAPE_POOL + i % SHAPE_POOL, a, b != a ? b : (a + 1) % SHAPE_POOL);
	}
}

static inline size_t shape_pool_data(size_t size, size_t extra)
{
	(void)size, (void)extra;
	return (size_t)2 * SHAPE_POOL;
}

static inline size_t shape_product(size_t size, size_t extra)
{
	return size * extra;
}

static const struct shape shapes[] = {
    {"independent", shape_one, shape_size, shape_independent},
    {"private", shape_extra, shape_size, shape_private},
    {"chain", shape_one, shape_size, shape_chain},
    {"wavefront", shape_square, shape_square, shape_wavefront},
    {"cholesky", shape_square, shape_cholesky_tasks, shape_cholesky},
    {"readers", shape_readers_data, shape_size, shape_readers},
    {"pool", shape_pool_data, shape_size, shape_pool},
    {"stencil", shape_stencil_data, shape_product, shape_stencil},
};

static inline const struct shape *shape_find(const char *name)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (strcmp(shapes[i].name, name) == 0)
			return &shapes[i];
	fprintf(stderr, "bench: no shape %s; there are:", name);
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		fprintf(stderr, " %s", shapes[i].name);
	fputc('\n', stderr);
	exit(1);
}

#endif
