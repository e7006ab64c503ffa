/* Copies to, from and between OpenCL devices: arrays of every shape, with gaps of every kind, as the CPU copies them;
 * and the memory from which that is fast. */
#include "base/base.h"
#include "data/data.h"
#include "opencl.h"

enum { BYTES = 1 << 16, ROUNDS = 600 };

/* Memories of one device, and what must be in each: every copy is also made in main memory. */
struct memory {
	unsigned node;
	char *base, *mirror;
};

static const struct heddle_driver *driver;
static struct heddle_platform *platform;
static void *devices[2], *in[2], *out[2];

static int open_all(void **state)
{
	(void)state;
	driver = hd_driver_find("opencl");
	platform = machine_with_opencl(1, 2, 0, 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(driver->open(platform, 1 + i, &devices[i]));
		assert_ok(driver->open_stream(devices[i], HEDDLE_STREAM_IN, &in[i]));
		assert_ok(driver->open_stream(devices[i], HEDDLE_STREAM_OUT, &out[i]));
	}
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		driver->close_stream(devices[i], in[i]);
		driver->close_stream(devices[i], out[i]);
		driver->close(devices[i]);
	}
	heddle_platform_free(platform);
	return 0;
}

/* Copies by the device and waits. */
static int copy(const struct heddle_copy *c)
{
	unsigned d = (c->to_node ? c->to_node : c->from_node) - 1;
	void *event = NULL;
	int status = driver->copy(devices[d], c->to_node ? in[d] : out[d], c, &event);
	return status == HEDDLE_PENDING ? driver->wait(devices[d], event) : status;
}

static struct heddle_part bytes_at(void *base)
{
	return (struct heddle_part){base, 1, 1, {BYTES}, {1}};
}

static void fill(struct memory *m, struct hd_rng *rng)
{
	m->mirror = malloc(BYTES);
	for (size_t i = 0; i < BYTES; i++)
		m->mirror[i] = (char)hd_rng_next(rng);
	if (!m->node) {
		m->base = malloc(BYTES);
		memcpy(m->base, m->mirror, BYTES);
		return;
	}
	assert_ok(driver->alloc(devices[m->node - 1], BYTES, (void **)&m->base));
	const struct heddle_copy c = {0, m->node, bytes_at(m->mirror), bytes_at(m->base)};
	assert_ok(copy(&c));
}

static void check(struct memory *m)
{
	char *seen = m->base;
	if (m->node) {
		seen = malloc(BYTES);
		const struct heddle_copy c = {m->node, 0, bytes_at(m->base), bytes_at(seen)};
		assert_ok(copy(&c));
	}
	assert_memory_equal(seen, m->mirror, BYTES);
	if (m->node)
		driver->free(devices[m->node - 1], m->base);
	free(seen);
	free(m->mirror);
}

/* Strides of one side, and where it begins. They are dense, or padded to whole lines, or anything. */
static void draw_side(struct hd_rng *rng, struct heddle_part *p, size_t *offset)
{
	size_t least = 1;
	int style = (int)(hd_rng_next(rng) % 3);
	for (unsigned d = 0; d < p->n_dims; d++) {
		p->stride[d] = least;
		if (d && style == 1)
			p->stride[d] += (hd_rng_next(rng) % 3) * p->stride[d - 1];
		else if (d && style == 2)
			p->stride[d] += hd_rng_next(rng) % 4;
		least = p->stride[d] * (p->n[d] ? p->n[d] : 1);
	}
	assert_true(least * p->elem_size < BYTES / 2);
	*offset = p->elem_size * (hd_rng_next(rng) % 17);
}

static void draw_copy(struct hd_rng *rng, struct heddle_copy *c, const struct memory *from, const struct memory *to,
                      struct heddle_copy *on_mirror)
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
	*on_mirror = *c;
	c->from.base = from->base + from_offset;
	c->to.base = to->base + to_offset;
	on_mirror->from.base = from->mirror + from_offset;
	on_mirror->to.base = to->mirror + to_offset;
}

static void every_shape_arrives_as_the_cpu_copies_it(void **state)
{
	(void)state;
	struct memory memories[3] = {{.node = 0}, {.node = 1}, {.node = 2}};
	struct hd_rng rng;
	hd_rng_seed(&rng, 1);
	assert_true(driver->can_copy_directly(devices[0], 1, 2));
	for (unsigned i = 0; i < 3; i++)
		fill(&memories[i], &rng);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct heddle_copy c, on_mirror;
		unsigned from = (unsigned)(hd_rng_next(&rng) % 3),
		         to = (from + 1 + (unsigned)(hd_rng_next(&rng) % 2)) % 3;
		draw_copy(&rng, &c, &memories[from], &memories[to], &on_mirror);
		assert_ok(copy(&c));
		assert_ok(hd_copy_host(&on_mirror));
	}
	for (unsigned i = 0; i < 3; i++)
		check(&memories[i]);
}

static void addresses_of_memories_differ_and_none_can_be_read(void **state)
{
	(void)state;
	char *blocks[40];
	for (unsigned i = 0; i < 40; i++)
		assert_ok(driver->alloc(devices[i % 2], 1 + 1000 * i, (void **)&blocks[i]));
	for (unsigned i = 0; i < 40; i++)
		for (unsigned j = 0; j < i; j++)
			assert_true(blocks[i] + 1 + 1000 * i <= blocks[j] || blocks[j] + 1 + 1000 * j <= blocks[i]);
	for (unsigned i = 0; i < 40; i++)
		driver->free(devices[i % 2], blocks[i * 7 % 40]);
}

static void copy_from_memory_that_is_not_the_devices_is_refused(void **state)
{
	(void)state;
	char here[8] = "";
	const struct heddle_copy c = {1, 0, {.base = here, .elem_size = 8}, {.base = here, .elem_size = 8}};
	assert_int_equal(copy(&c), HEDDLE_E_INVALID);
	assert_says("no memory of this device");
}

static void more_than_the_device_has_is_refused(void **state)
{
	(void)state;
	void *p = NULL;
	assert_int_equal(driver->alloc(devices[0], (size_t)1 << 60, &p), HEDDLE_E_MEMORY);
	assert_says("clCreateBuffer failed with CL_INVALID_BUFFER_SIZE");
	assert_null(p);
}

static void main_memory_for_copies_keeps_what_is_written_there(void **state)
{
	(void)state;
	char *mine = malloc(BYTES), *theirs = NULL, *block = NULL;
	memset(mine, 7, BYTES);
	assert_ok(driver->pin(devices[0], mine, BYTES));
	for (size_t i = 0; i < BYTES; i++)
		assert_int_equal(mine[i], 7);
	assert_ok(driver->alloc_host(devices[1], BYTES, (void **)&theirs));
	assert_ok(driver->alloc(devices[0], BYTES, (void **)&block));
	assert_ok(copy(&(struct heddle_copy){0, 1, bytes_at(mine), bytes_at(block)}));
	memset(mine, 8, BYTES);
	assert_ok(copy(&(struct heddle_copy){1, 0, bytes_at(block), bytes_at(theirs)}));
	driver->unpin(devices[0], mine);
	for (size_t i = 0; i < BYTES; i++)
		assert_true(mine[i] == 8 && theirs[i] == 7);
	driver->free_host(devices[0], theirs); /* by another device of the same context */
	driver->free(devices[0], block);
	free(mine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_shape_arrives_as_the_cpu_copies_it),
	    cmocka_unit_test(addresses_of_memories_differ_and_none_can_be_read),
	    cmocka_unit_test(copy_from_memory_that_is_not_the_devices_is_refused),
	    cmocka_unit_test(more_than_the_device_has_is_refused),
	    cmocka_unit_test(main_memory_for_copies_keeps_what_is_written_there),
	};
	need_device();
	return cmocka_run_group_tests(tests, open_all, close_all);
}
