/* Filters: one datum seen as several. */
#include "program.h"

/* Adds the value given to every element of datum 0. */
static int add_everywhere(heddle_context *c)
{
	long *a = heddle_ptr(c, 0), value = heddle_get(c, 0, long);
	size_t m = heddle_extent(c, 0, 0), n = heddle_extent(c, 0, 1), ld = n > 1 ? heddle_ld(c, 0) : m;
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < m; i++)
			a[i + j * ld] += value;
	return 0;
}

/* Writes the extents of datum 0 to datum 1. */
static int tell_extents(heddle_context *c)
{
	long *out = heddle_ptr(c, 1);
	out[0] = (long)heddle_extent(c, 0, 0);
	out[1] = (long)heddle_extent(c, 0, 1);
	return 0;
}

/* Datum 1 [0] = sum of datum 0. */
static int sum_up(heddle_context *c)
{
	const long *x = heddle_ptr(c, 0);
	long *sum = heddle_ptr(c, 1);
	*sum = 0;
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		*sum += x[i];
	return 0;
}

struct fixture {
	heddle_runtime *rt;
	heddle_codelet *add, *extents, *sum;
};

static struct fixture open_fixture(void)
{
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.emulated_memory = 1 << 20;
	struct fixture f = {.rt = start_with(&config)};
	f.add = heddle_codelet_new(f.rt, .name = "add", .cpu = add_everywhere);
	f.extents = heddle_codelet_new(f.rt, .name = "extents", .cpu = tell_extents);
	f.sum = heddle_codelet_new(f.rt, .name = "sum", .cpu = sum_up);
	assert_true(f.add && f.extents && f.sum);
	return f;
}

/* Child i gets i + 1 added everywhere. */
static void add_to_children(const struct fixture *f, heddle_data *d, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		long value = (long)i + 1;
		heddle_data *child = heddle_child(d, i);
		assert_non_null(child);
		assert_ok(heddle_submit(f->rt, heddle_call(f->add), heddle_rw(child), heddle_value(value)));
	}
}

static void vector_blocks_are_nearly_equal_and_cover_it(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long x[103] = {0}, extents[7][2];
	heddle_data *d, *out[7];
	size_t n = 0;
	assert_ok(heddle_vector(f.rt, x, 103, sizeof *x, &d));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 7}, &n));
	assert_int_equal(n, 7);
	for (size_t i = 0; i < n; i++) {
		assert_ok(heddle_vector(f.rt, extents[i], 2, sizeof(long), &out[i]));
		assert_ok(heddle_submit(f.rt, heddle_call(f.extents), heddle_r(heddle_child(d, i)), heddle_w(out[i])));
		assert_ok(heddle_unregister(out[i]));
		assert_in_range(extents[i][0], 14, 15);
	}
	add_to_children(&f, d, n);
	assert_null(heddle_child(d, 7));
	assert_ok(heddle_unpartition(d));
	assert_null(heddle_child(d, 0));
	assert_ok(heddle_unregister(d));
	size_t at = 0;
	for (size_t i = 0; i < 7; i++)
		for (long k = 0; k < extents[i][0]; k++)
			assert_int_equal(x[at++], i + 1);
	assert_int_equal(at, 103);
	assert_ok(heddle_stop(f.rt));
}

static void tiles_are_numbered_down_the_columns(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long a[11 * 9] = {0}; /* 10 x 9, columns 11 apart */
	heddle_data *d;
	size_t n = 0;
	assert_ok(heddle_matrix(f.rt, a, 10, 9, 11, sizeof *a, &d));
	assert_ok(
	    heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_TILES, .tile_x = 4, .tile_y = 5}, &n));
	assert_int_equal(n, 6);
	add_to_children(&f, d, n);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	for (size_t j = 0; j < 9; j++)
		for (size_t i = 0; i < 11; i++)
			assert_int_equal(a[i + j * 11], i < 10 ? i / 4 + j / 5 * 3 + 1 : 0);
	assert_ok(heddle_stop(f.rt));
}

static void rows_and_columns_follow_each_other(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long a[6 * 6] = {0};
	heddle_data *d;
	size_t n = 0;
	assert_ok(heddle_matrix(f.rt, a, 6, 6, 6, sizeof *a, &d));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_ROWS, .nx = 2}, &n));
	assert_int_equal(n, 2);
	add_to_children(&f, d, n);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_COLUMNS, .ny = 3}, &n));
	assert_int_equal(n, 3);
	add_to_children(&f, d, n);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	for (size_t j = 0; j < 6; j++)
		for (size_t i = 0; i < 6; i++)
			assert_int_equal(a[i + j * 6], i / 3 + 1 + j / 2 + 1);
	assert_ok(heddle_stop(f.rt));
}

static void halos_overlap_and_can_only_be_read(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long x[12], sums[3];
	heddle_data *d, *out[3];
	size_t n = 0;
	for (long i = 0; i < 12; i++)
		x[i] = 1 << i;
	assert_ok(heddle_vector(f.rt, x, 12, sizeof *x, &d));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_HALO, .nx = 3, .halo = 2}, &n));
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		assert_ok(heddle_variable(f.rt, &sums[i], sizeof(long), &out[i]));
		assert_ok(heddle_submit(f.rt, heddle_call(f.sum), heddle_r(heddle_child(d, i)), heddle_w(out[i])));
		assert_ok(heddle_unregister(out[i]));
	}
	long value = 1;
	assert_int_equal(heddle_submit(f.rt, heddle_call(f.add), heddle_rw(heddle_child(d, 0)), heddle_value(value)),
	                 HEDDLE_E_INVALID);
	assert_int_equal(sums[0], 0x03f);
	assert_int_equal(sums[1], 0x3fc);
	assert_int_equal(sums[2], 0xfc0);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(f.rt));
}

/* Datum 1 [0..3] = the first and last element of datum 0, which is a matrix, and its extents. */
static int tell_corners(heddle_context *c)
{
	const long *a = heddle_ptr(c, 0);
	long *out = heddle_ptr(c, 1);
	size_t m = heddle_extent(c, 0, 0), n = heddle_extent(c, 0, 1);
	out[0] = a[0];
	out[1] = a[m - 1 + (n - 1) * heddle_ld(c, 0)];
	out[2] = (long)m;
	out[3] = (long)n;
	return 0;
}

static void tiles_with_halos_overlap_in_both_dimensions(void **state)
{
	enum { M = 7, N = 9, LD = 8, ROWS = 2, COLUMNS = 3 };
	(void)state;
	struct fixture f = open_fixture();
	heddle_codelet *corners = heddle_codelet_new(f.rt, .name = "corners", .cpu = tell_corners);
	long a[LD * N], seen[ROWS * COLUMNS][4], value = 1;
	heddle_data *d, *out[ROWS * COLUMNS];
	size_t n = 0;
	for (long i = 0; i < LD * N; i++)
		a[i] = i % LD * 100 + i / LD;
	assert_ok(heddle_matrix(f.rt, a, M, N, LD, sizeof *a, &d));
	struct heddle_filter filter = {.kind = HEDDLE_SPLIT_HALO, .nx = ROWS, .halo = 1, .halo_y = 2};
	assert_int_equal(heddle_partition(d, &filter, &n), HEDDLE_E_INVALID);
	assert_says("blocks of columns");
	filter.ny = COLUMNS;
	assert_ok(heddle_partition(d, &filter, &n));
	assert_int_equal(n, ROWS * COLUMNS);
	for (size_t i = 0; i < n; i++) {
		assert_ok(heddle_vector(f.rt, seen[i], 4, sizeof(long), &out[i]));
		assert_ok(heddle_submit(f.rt, heddle_call(corners), heddle_r(heddle_child(d, i)), heddle_w(out[i])));
		assert_ok(heddle_unregister(out[i]));
	}
	assert_int_equal(heddle_submit(f.rt, heddle_call(f.add), heddle_rw(heddle_child(d, 4)), heddle_value(value)),
	                 HEDDLE_E_INVALID);
	assert_ok(heddle_unpartition(d));
	/* the blocks of rows are 0 to 3 and 4 to 6, those of columns 0 to 2, 3 to 5 and 6 to 8 */
	static const long expected[ROWS * COLUMNS][4] = {{0, 404, 5, 5},   {300, 604, 4, 5}, {1, 407, 5, 7},
	                                                 {301, 607, 4, 7}, {4, 408, 5, 5},   {304, 608, 4, 5}};
	assert_memory_equal(seen, expected, sizeof expected);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(f.rt));
}

/* Child i is the element (i, i). */
static int diagonal(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
                    size_t n[HEDDLE_MAX_DIMS], void *arg)
{
	(void)parent;
	++*(int *)arg;
	offset[0] = offset[1] = i;
	n[0] = n[1] = 1;
	return 0;
}

static void custom_filter_chooses_its_windows(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long a[5 * 5] = {0};
	int calls = 0;
	heddle_data *d;
	size_t n = 0;
	const struct heddle_filter filter = {
	    .kind = HEDDLE_SPLIT_CUSTOM, .n_children = 5, .child = diagonal, .arg = &calls};
	assert_ok(heddle_matrix(f.rt, a, 5, 5, 5, sizeof *a, &d));
	assert_ok(heddle_partition(d, &filter, &n));
	assert_int_equal(n, 5);
	assert_int_equal(calls, 5);
	add_to_children(&f, d, n);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	for (size_t i = 0; i < 25; i++)
		assert_int_equal(a[i], i % 6 == 0 ? i / 6 + 1 : 0);
	assert_ok(heddle_stop(f.rt));
}

static void parent_is_refused_while_partitioned_and_good_afterwards(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long x[40] = {0}, one = 1;
	heddle_data *d;
	size_t n = 0;
	const struct heddle_filter filter = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 4};
	assert_ok(heddle_vector(f.rt, x, 40, sizeof *x, &d));
	assert_int_equal(heddle_unpartition(d), HEDDLE_E_STATE);
	assert_ok(heddle_submit(f.rt, heddle_call(f.add), heddle_rw(d), heddle_value(one)));
	assert_ok(heddle_partition(d, &filter, &n));
	assert_true(heddle_submit(f.rt, heddle_call(f.add), heddle_rw(d), heddle_value(one)) < 0);
	assert_true(heddle_partition(d, &filter, &n) < 0);
	add_to_children(&f, d, n);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_submit(f.rt, heddle_call(f.add), heddle_rw(d), heddle_value(one)));
	assert_ok(heddle_unregister(d));
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(x[i], 2 + i / 10 + 1);
	assert_ok(heddle_stop(f.rt));
}

static void child_may_be_partitioned_again(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long a[8 * 8] = {0};
	heddle_data *d;
	size_t n = 0, m = 0;
	assert_ok(heddle_matrix(f.rt, a, 8, 8, 8, sizeof *a, &d));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_TILES, .nx = 2, .ny = 2}, &n));
	assert_int_equal(n, 4);
	heddle_data *last = heddle_child(d, 3);
	assert_ok(heddle_partition(last, &(struct heddle_filter){.kind = HEDDLE_SPLIT_TILES, .nx = 2, .ny = 2}, &m));
	add_to_children(&f, last, m);
	assert_ok(heddle_unpartition(last));
	add_to_children(&f, d, n);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	for (size_t j = 0; j < 8; j++)
		for (size_t i = 0; i < 8; i++) {
			size_t inner = i >= 4 && j >= 4 ? (i - 4) / 2 + (j - 4) / 2 * 2 + 1 : 0;
			assert_int_equal(a[i + j * 8], i / 4 + j / 4 * 2 + 1 + inner);
		}
	assert_ok(heddle_stop(f.rt));
}

static void impossible_filters_are_refused(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long x[10] = {0};
	heddle_data *vector;
	size_t n = 0;
	assert_ok(heddle_vector(f.rt, x, 10, sizeof *x, &vector));
	assert_int_equal(heddle_partition(vector, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR}, &n),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_partition(vector, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 11}, &n),
	                 HEDDLE_E_INVALID);
	assert_int_equal(
	    heddle_partition(vector, &(struct heddle_filter){.kind = HEDDLE_SPLIT_TILES, .nx = 2, .ny = 2}, &n),
	    HEDDLE_E_INVALID);
	assert_int_equal(heddle_partition(vector, NULL, &n), HEDDLE_E_INVALID);
	assert_ok(heddle_unregister(vector));
	assert_ok(heddle_stop(f.rt));
}

static int whole_child(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
                       size_t n[HEDDLE_MAX_DIMS], void *arg)
{
	(void)parent;
	(void)i;
	(void)offset;
	(void)n;
	(void)arg;
	return 0;
}

/* Each filter on data of 0 to 4 dimensions. */
static void filters_know_what_they_split(void **state)
{
	static const struct {
		enum heddle_filter_kind kind;
		unsigned least, most;
		const char *instead; /* for data of two dimensions */
	} kinds[] = {{HEDDLE_SPLIT_VECTOR, 1, 1, "HEDDLE_SPLIT_VECTOR cannot split: use HEDDLE_SPLIT_ROWS"},
	             {HEDDLE_SPLIT_HALO, 1, 4, ""},
	             {HEDDLE_SPLIT_COLUMNS, 2, 4, ""},
	             {HEDDLE_SPLIT_ROWS, 2, 4, ""},
	             {HEDDLE_SPLIT_TILES, 2, 4, ""},
	             {HEDDLE_SPLIT_CUSTOM, 0, 4, ""}};
	(void)state;
	struct fixture f = open_fixture();
	long x[16] = {0};
	for (unsigned dims = 0; dims <= 4; dims++) {
		heddle_data *d;
		heddle_plan *plan;
		assert_ok(heddle_tensor(
		    f.rt,
		    &(struct heddle_part){
		        .base = x, .elem_size = sizeof *x, .n_dims = dims, .n = {2, 2, 2, 2}, .stride = {1, 2, 4, 8}},
		    &d));
		assert_ok(heddle_data_set_name(d, "grid"));
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			const struct heddle_filter filter = {
			    .kind = kinds[k].kind, .nx = 2, .ny = 2, .n_children = 1, .child = whole_child};
			int fits = dims >= kinds[k].least && dims <= kinds[k].most;
			assert_int_equal(heddle_plan_create(d, &filter, &plan), fits ? 0 : HEDDLE_E_INVALID);
			if (!fits)
				assert_says("grid");
			if (!fits && dims == 2)
				assert_says(kinds[k].instead);
			if (!fits && dims == 1)
				assert_says("for a vector use HEDDLE_SPLIT_VECTOR");
		}
		assert_ok(heddle_unregister(d));
	}
	assert_ok(heddle_stop(f.rt));
}

/* The number of elements of child i, as the program sees it. */
static size_t length_of(heddle_data *d, size_t i)
{
	struct heddle_part part;
	heddle_data *child = heddle_child(d, i);
	assert_ok(heddle_acquire(child, HEDDLE_R));
	assert_ok(heddle_data_part(child, 0, &part));
	assert_ok(heddle_release(child));
	return part.n[0];
}

static void pieces_of_any_size_are_cut_off_at_the_end(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long x[10] = {0};
	heddle_data *d;
	size_t n = 0;
	assert_ok(heddle_vector(f.rt, x, 10, sizeof *x, &d));
	assert_ok(
	    heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_HALO, .nx = 2, .halo = SIZE_MAX}, &n));
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(length_of(d, i), 10);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .tile_x = SIZE_MAX}, &n));
	assert_int_equal(n, 1);
	assert_int_equal(length_of(d, 0), 10);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(f.rt));
}

/* --- Windows that overlap ----------------------------------------------------------------------------------------- */

struct box {
	size_t offset[2], n[2];
};

static int box_child(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
                     size_t n[HEDDLE_MAX_DIMS], void *arg)
{
	(void)parent;
	const struct box *b = (const struct box *)arg + i;
	memcpy(offset, b->offset, sizeof b->offset);
	memcpy(n, b->n, sizeof b->n);
	return 0;
}

static int add_one(const struct fixture *f, heddle_data *d)
{
	long one = 1;
	return heddle_submit(f->rt, heddle_call(f->add), heddle_rw(d), heddle_value(one));
}

static void custom_windows_that_overlap_can_only_be_read(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	/* 0 and 3 share one element; 1 touches both but for edges, 2 and 5 are empty, 4 lies apart. */
	struct box boxes[] = {{{0, 0}, {4, 4}}, {{4, 0}, {4, 3}}, {{1, 1}, {0, 5}},
	                      {{3, 3}, {2, 2}}, {{0, 5}, {3, 3}}, {{8, 8}, {0, 0}}};
	const int writable[] = {0, 1, 1, 0, 1, 1};
	long a[8 * 8] = {0};
	heddle_data *d;
	size_t n = 0;
	assert_ok(heddle_matrix(f.rt, a, 8, 8, 8, sizeof *a, &d));
	assert_ok(heddle_partition(
	    d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_CUSTOM, .n_children = 6, .child = box_child, .arg = boxes},
	    &n));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(add_one(&f, heddle_child(d, i)), writable[i] ? 0 : HEDDLE_E_INVALID);
		if (!writable[i])
			assert_says("overlaps");
	}
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	for (size_t j = 0; j < 8; j++)
		for (size_t i = 0; i < 8; i++)
			assert_int_equal(a[i + j * 8], (i >= 4 && j < 3) || (i < 3 && j >= 5));
	assert_ok(heddle_stop(f.rt));
}

static void what_can_only_be_read_stays_so_in_parts_and_for_the_program(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	long x[12] = {0};
	heddle_data *d;
	size_t n = 0;
	assert_ok(heddle_vector(f.rt, x, 12, sizeof *x, &d));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_HALO, .nx = 3, .halo = 2}, &n));
	heddle_data *child = heddle_child(d, 1);
	assert_int_equal(heddle_acquire(child, HEDDLE_RW), HEDDLE_E_INVALID);
	assert_says("only be read");
	assert_int_equal(heddle_acquire(child, HEDDLE_W), HEDDLE_E_INVALID);
	assert_ok(heddle_acquire(child, HEDDLE_R));
	assert_ok(heddle_release(child));
	assert_ok(heddle_partition(child, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, &n));
	assert_int_equal(add_one(&f, heddle_child(child, 0)), HEDDLE_E_INVALID);
	assert_ok(heddle_unpartition(child));
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(f.rt));
}

enum { MANY = 96 };

/* Child i: one element, in a different order along each dimension. */
static int scattered(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
                     size_t n[HEDDLE_MAX_DIMS], void *arg)
{
	(void)parent;
	size_t at = i * 7919 % (MANY * MANY);
	offset[0] = at % MANY;
	offset[1] = at / MANY;
	n[0] = n[1] = 1;
	if (arg && i == 1) { /* reaches into its neighbour */
		offset[0]--;
		n[0]++;
	}
	return 0;
}

static void thousands_of_windows_are_told_apart(void **state)
{
	(void)state;
	struct fixture f = open_fixture();
	static long a[MANY * MANY];
	memset(a, 0, sizeof a);
	heddle_data *d;
	int overlap = 1;
	for (size_t k = 0; k < 2; k++) {
		size_t n = 0, refused = 0;
		assert_ok(heddle_matrix(f.rt, a, MANY, MANY, MANY, sizeof *a, &d));
		assert_ok(heddle_partition(d,
		                           &(struct heddle_filter){.kind = HEDDLE_SPLIT_CUSTOM,
		                                                   .n_children = MANY * MANY,
		                                                   .child = scattered,
		                                                   .arg = k ? &overlap : NULL},
		                           &n));
		for (size_t i = 0; i < n; i++)
			refused += add_one(&f, heddle_child(d, i)) != 0;
		assert_int_equal(refused, 2 * k);
		assert_ok(heddle_unpartition(d));
		assert_ok(heddle_unregister(d));
	}
	assert_ok(heddle_stop(f.rt));
}

static int fill_matrix(heddle_context *c)
{
	struct heddle_part p;
	if (heddle_context_part(c, 0, 0, &p))
		return 1;
	for (size_t k = 0; k < p.n[0] * p.n[1]; k++)
		((long *)p.base)[k % p.n[0] * p.stride[0] + k / p.n[0] * p.stride[1]] = heddle_get(c, 0, long);
	return 0;
}

static void temporary_without_strides_is_split_into_disjoint_children(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .cpu = fill_matrix);
	const struct heddle_part part = {.elem_size = sizeof(long), .n_dims = 2, .n = {3, 4}};
	const struct heddle_filter columns = {.kind = HEDDLE_SPLIT_COLUMNS, .ny = 2},
	                           halves = {.kind = HEDDLE_SPLIT_ROWS, .nx = 3};
	heddle_data *d;
	long k = 7;
	assert_ok(heddle_tensor(rt, &part, &d));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d), heddle_value(k)));
	assert_ok(heddle_partition(d, &columns, NULL));
	assert_ok(heddle_partition(heddle_child(d, 1), &halves, NULL));
	k = 100;
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_rw(heddle_child(d, 0)), heddle_value(k)));
	for (k = 0; k < 3; k++)
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_rw(heddle_child(heddle_child(d, 1), (size_t)k)),
		                        heddle_value(k)));
	assert_ok(heddle_unpartition(heddle_child(d, 1)));
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	static const long expected[] = {100, 100, 100, 100, 100, 100, 0, 1, 2, 0, 1, 2};
	assert_memory_equal(heddle_data_ptr(d), expected, sizeof expected);
	assert_ok(heddle_release(d));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(vector_blocks_are_nearly_equal_and_cover_it),
	    cmocka_unit_test(tiles_are_numbered_down_the_columns),
	    cmocka_unit_test(rows_and_columns_follow_each_other),
	    cmocka_unit_test(halos_overlap_and_can_only_be_read),
	    cmocka_unit_test(tiles_with_halos_overlap_in_both_dimensions),
	    cmocka_unit_test(custom_filter_chooses_its_windows),
	    cmocka_unit_test(parent_is_refused_while_partitioned_and_good_afterwards),
	    cmocka_unit_test(child_may_be_partitioned_again),
	    cmocka_unit_test(impossible_filters_are_refused),
	    cmocka_unit_test(filters_know_what_they_split),
	    cmocka_unit_test(pieces_of_any_size_are_cut_off_at_the_end),
	    cmocka_unit_test(custom_windows_that_overlap_can_only_be_read),
	    cmocka_unit_test(what_can_only_be_read_stays_so_in_parts_and_for_the_program),
	    cmocka_unit_test(thousands_of_windows_are_told_apart),
	    cmocka_unit_test(temporary_without_strides_is_split_into_disjoint_children),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
