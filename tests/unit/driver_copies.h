/* Copies to, from and between devices of one kind, by its driver alone: arrays of every shape, with gaps of every kind,
 * must arrive as the CPU copies them. */
#ifndef TEST_DRIVER_COPIES_H
#define TEST_DRIVER_COPIES_H

#include "base/base.h"
#include "internals.h"
#include "driver/driver.h"
#include "program.h"

enum { COPIES_BYTES = 1 << 16, COPIES_ROUNDS = 600, COPIES_DEVICES = 2 };

/* The devices, with their streams, by their nodes: set by open_copies. */
static struct {
	const struct heddle_driver *driver;
	unsigned n;
	void *devices[1 + COPIES_DEVICES], *in[1 + COPIES_DEVICES], *out[1 + COPIES_DEVICES];
	int any_stride; /* set by the test: strides[0] may be another than 1 too */
} copies;

/* Opens the devices of a platform whose worker 0 is a CPU core; worker i has node i. */
static inline void open_copies(const char *kind, const struct heddle_platform *platform)
{
	copies.driver = hd_driver_find(kind);
	copies.n = (unsigned)platform->n_workers - 1;
	for (unsigned i = 1; i <= copies.n; i++) {
		assert_ok(copies.driver->open(platform, i, &copies.devices[i]));
		assert_ok(copies.driver->open_stream(copies.devices[i], HEDDLE_STREAM_IN, &copies.in[i]));
		assert_ok(copies.driver->open_stream(copies.devices[i], HEDDLE_STREAM_OUT, &copies.out[i]));
	}
}

static inline void close_copies(void)
{
	for (unsigned i = 1; i <= copies.n; i++) {
		copies.driver->close_stream(copies.devices[i], copies.in[i]);
		copies.driver->close_stream(copies.devices[i], copies.out[i]);
		copies.driver->close(copies.devices[i]);
	}
}

/* Copies by a device and waits. */
static inline int copy_by_device(const struct heddle_copy *c)
{
	unsigned d = c->to_node ? c->to_node : c->from_node;
	void *event = NULL;
	int status = copies.driver->copy(copies.devices[d], c->to_node ? copies.in[d] : copies.out[d], c, &event);
	return status == HEDDLE_PENDING ? copies.driver->wait(copies.devices[d], event) : status;
}

static inline struct heddle_part bytes_at(void *base)
{
	return (struct heddle_part){base, 1, 1, {COPIES_BYTES}, {1}};
}

/* Memory of one node, and what must be in it: every copy is also made in main memory. */
struct copies_memory {
	unsigned node;
	char *base, *mirror;
};

static inline void fill_memory(struct copies_memory *m, struct hd_rng *rng)
{
	m->mirror = malloc(COPIES_BYTES);
	for (size_t i = 0; i < COPIES_BYTES; i++)
		m->mirror[i] = (char)hd_rng_next(rng);
	if (!m->node) {
		m->base = malloc(COPIES_BYTES);
		memcpy(m->base, m->mirror, COPIES_BYTES);
		return;
	}
	assert_ok(copies.driver->alloc(copies.devices[m->node], COPIES_BYTES, (void **)&m->base));
	const struct heddle_copy c = {0, m->node, bytes_at(m->mirror), bytes_at(m->base)};
	assert_ok(copy_by_device(&c));
}

static inline void check_memory(struct copies_memory *m)
{
	char *seen = m->base;
	if (m->node) {
		seen = malloc(COPIES_BYTES);
		const struct heddle_copy c = {m->node, 0, bytes_at(m->base), bytes_at(seen)};
		assert_ok(copy_by_device(&c));
		copies.driver->free(copies.devices[m->node], m->base);
	}
	assert_memory_equal(seen, m->mirror, COPIES_BYTES);
	free(seen);
	free(m->mirror);
}

/* Strides of one side, and where it begins. They are dense, or padded to whole lines, or anything. */
static inline void draw_side(struct hd_rng *rng, struct heddle_part *p, size_t *offset)
{
	int style = (int)(hd_rng_next(rng) % 3);
	size_t least = copies.any_stride && hd_rng_next(rng) % 4 == 0 ? 1 + hd_rng_next(rng) % 3 : 1;
	for (unsigned d = 0; d < p->n_dims; d++) {
		p->stride[d] = least;
		if (d && style == 1)
			p->stride[d] += (hd_rng_next(rng) % 3) * p->stride[d - 1];
		else if (d && style == 2)
			p->stride[d] += hd_rng_next(rng) % 4;
		least = p->stride[d] * (p->n[d] ? p->n[d] : 1);
	}
	assert_true(least * p->elem_size < COPIES_BYTES - 16 * 17);
	*offset = p->elem_size * (hd_rng_next(rng) % 17);
}

/* The dimensions in another order: strides need not ascend then. */
static inline void turn_side(struct heddle_part *p, unsigned by)
{
	struct heddle_part before = *p;
	for (unsigned d = 0; d < p->n_dims; d++) {
		p->n[d] = before.n[(d + by) % p->n_dims];
		p->stride[d] = before.stride[(d + by) % p->n_dims];
	}
}

static inline void draw_copy(struct hd_rng *rng, struct heddle_copy *c, const struct copies_memory *from,
                             const struct copies_memory *to, struct heddle_copy *on_mirror)
{
	static const size_t sizes[] = {1, 3, 4, 8, 16};
	struct heddle_part shape = {.elem_size = sizes[hd_rng_next(rng) % 5],
	                            .n_dims = (unsigned)(hd_rng_next(rng) % 5)};
	size_t from_offset, to_offset;
	for (unsigned d = 0; d < shape.n_dims; d++)
		shape.n[d] = hd_rng_next(rng) % 40 ? 1 + hd_rng_next(rng) % 5 : 0;
	*c = (struct heddle_copy){from->node, to->node, shape, shape};
	draw_side(rng, &c->from, &from_offset);
	draw_side(rng, &c->to, &to_offset);
	unsigned by = copies.any_stride ? (unsigned)(hd_rng_next(rng) % 3) : 0;
	turn_side(&c->from, by);
	turn_side(&c->to, by);
	*on_mirror = *c;
	c->from.base = from->base + from_offset;
	c->to.base = to->base + to_offset;
	on_mirror->from.base = from->mirror + from_offset;
	on_mirror->to.base = to->mirror + to_offset;
}

/* A test of its own. */
static inline void every_shape_arrives_as_the_cpu_copies_it(void **state)
{
	(void)state;
	struct copies_memory memories[1 + COPIES_DEVICES];
	unsigned nodes = 1 + copies.n;
	struct hd_rng rng;
	hd_rng_seed(&rng, 1);
	if (copies.n > 1 && !copies.driver->can_copy_directly(copies.devices[1], 2, 1))
		nodes = 2;
	if (nodes > 2)
		assert_true(copies.driver->can_copy_directly(copies.devices[2], 1, 2));
	for (unsigned i = 0; i < nodes; i++) {
		memories[i].node = i;
		fill_memory(&memories[i], &rng);
	}
	for (unsigned i = 0; i < COPIES_ROUNDS; i++) {
		struct heddle_copy c, on_mirror;
		unsigned from = (unsigned)(hd_rng_next(&rng) % nodes);
		unsigned to = (from + 1 + (unsigned)(hd_rng_next(&rng) % (nodes - 1))) % nodes;
		draw_copy(&rng, &c, &memories[from], &memories[to], &on_mirror);
		assert_ok(copy_by_device(&c));
		assert_ok(hd_copy_host(&on_mirror));
	}
	for (unsigned i = 0; i < nodes; i++)
		check_memory(&memories[i]);
}

#endif
