/* Putting kernels on the stream of a task. */
#include <dense/opencl/clblast.h>
#include <dense/opencl/enqueue.h>
#include <dense/opencl/library.h>
#include <heddle/event.h>
#include <kernels.cl.h>
#include <stdlib.h>
#include <string.h>

/* A program for each precision, by enum heddle_dense_precision. */
static const struct heddle_opencl_source sources[HEDDLE_DENSE_PRECISIONS] = {
    {"dense/kernels.cl", hd_ocl_kernels, "-DDOUBLE"},
    {"dense/kernels.cl", hd_ocl_kernels, "-DSINGLE"},
    {"dense/kernels.cl", hd_ocl_kernels, "-DDOUBLE -DCOMPLEX"},
    {"dense/kernels.cl", hd_ocl_kernels, "-DSINGLE -DCOMPLEX"},
};

/* The structure of the same name in kernels.cl. */
struct shape {
	int64_t at_a, at_b, at_c;
	int32_t ld_a, ld_b, ld_c;
	int32_t m, n, k;
	int32_t diagonal;
	int32_t flags;
};

enum {
	FOUND_BYTES = 256, /* at the beginning of the workspace, for what kernels find */
	BLOCK = 64,        /* rows and columns that a group computes in a product */
	SIDE = 16,         /* of a group of work-items */
	ITEMS = 64         /* systems that a group solves */
};

/* --- What belongs to a stream ------------------------------------------------------------------------------------- */

/* The report of a task's kernels, on its way to main memory. */
enum { NOTHING_CAME = -1 };
struct report {
	heddle_event *event;
	hd_ocl_judge judge;
	const void *value; /* value 0 of the task */
	int found[2];
	/* next in the list of reports that could not be sent; the device may still write to them */
	struct report *next;
};

struct stream {
	struct report *unsent; /* owns */
	int has_clblast;
};

static void stream_destroy(void *p)
{
	struct stream *s = p;
	while (s->unsent) {
		struct report *next = s->unsent->next;
		free(s->unsent);
		s->unsent = next;
	}
	if (s->has_clblast)
		hd_clblast_clear();
	free(s);
}

/* The state of the kernel's stream; NULL after a failure. */
static struct stream *stream_of(heddle_context *c)
{
	static const char key;
	void **place = heddle_opencl_slot(c, &key, stream_destroy);
	if (!place || *place)
		return place ? *place : NULL;
	struct _cl_device_id *device = heddle_opencl_device(c);
	cl_device_type type = CL_DEVICE_TYPE_CPU;
	const struct hd_ocl_library *library = hd_ocl_load();
	if (!device ||
	    heddle_opencl_failed(c, library->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL),
	                         "clGetDeviceInfo(CL_DEVICE_TYPE)"))
		return NULL;
	struct stream *s = calloc(1, sizeof *s);
	if (!s) {
		heddle_fail(c, HEDDLE_E_MEMORY, "out of memory for a stream of dense kernels");
		return NULL;
	}
	s->has_clblast = library->has_clblast && !(type & CL_DEVICE_TYPE_CPU);
	*place = s;
	return s;
}

/* --- Matrices ----------------------------------------------------------------------------------------------------- */

struct hd_ocl hd_ocl_begin(heddle_context *c, enum heddle_dense_precision precision, size_t elements, int finds)
{
	struct hd_ocl w = {.c = c, .precision = precision, .elem_size = hd_dense_elem_size(precision)};
	struct stream *s = stream_of(c);
	w.status = s ? 0 : HEDDLE_E_KERNEL;
	w.clblast = s && s->has_clblast;
	w.used = FOUND_BYTES / w.elem_size;
	if (w.status == 0 && (elements || finds)) {
		w.scratch = heddle_opencl_scratch(c, FOUND_BYTES + elements * w.elem_size);
		w.status = w.scratch ? 0 : HEDDLE_E_MEMORY;
	}
	return w;
}

static struct hd_ocl_matrix datum(struct hd_ocl *w, size_t i, size_t elem_size)
{
	size_t offset = 0;
	struct hd_ocl_matrix a = {.memory = NULL};
	if (w->status)
		return a;
	a.memory = heddle_opencl_buffer(w->c, i, &offset);
	if (!a.memory)
		w->status = HEDDLE_E_KERNEL;
	a.at = (int64_t)(offset / elem_size);
	a.m = (int)heddle_extent(w->c, i, 0);
	a.n = (int)heddle_extent(w->c, i, 1);
	a.ld = (int)heddle_ld(w->c, i);
	return a;
}

struct hd_ocl_matrix hd_ocl_tile(struct hd_ocl *w, size_t i)
{
	return datum(w, i, w->elem_size);
}

struct hd_ocl_matrix hd_ocl_doubles(struct hd_ocl *w, size_t i)
{
	return datum(w, i, sizeof(double));
}

struct hd_ocl_matrix hd_ocl_scratch(struct hd_ocl *w, int m, int n)
{
	struct hd_ocl_matrix a = {w->scratch, (int64_t)w->used, m, n, m > 0 ? m : 1};
	w->used += (size_t)m * (size_t)n;
	return a;
}

/* --- Kernels ------------------------------------------------------------------------------------------------------ */

/* A number in the representation of the device. */
struct number {
	union {
		double d[2];
		float f[2];
	} parts;
};

static struct number number_of(const struct hd_ocl *w, heddle_dense_scalar x)
{
	struct number number;
	if (w->precision == HEDDLE_DENSE_DOUBLE || w->precision == HEDDLE_DENSE_COMPLEX_DOUBLE) {
		number.parts.d[0] = x.re;
		number.parts.d[1] = x.im;
	} else {
		number.parts.f[0] = (float)x.re;
		number.parts.f[1] = (float)x.im;
	}
	return number;
}

static void run(struct hd_ocl *w, const char *name, const struct hd_ocl_call *x,
                const struct heddle_opencl_range *range)
{
	struct _cl_kernel *kernel;
	struct _cl_mem *any = x->c.memory ? x->c.memory : x->a.memory;
	if (w->status == 0)
		w->status = heddle_opencl_kernel(w->c, &sources[w->precision], name, &kernel);
	if (w->status)
		return;
	const struct shape shape = {x->a.at, x->b.at, x->c.at, x->a.ld,     x->b.ld, x->c.ld,
	                            x->c.m,  x->c.n,  x->k,    x->diagonal, x->flags};
	struct number alpha = number_of(w, x->alpha), beta = number_of(w, x->beta);
	const struct heddle_opencl_argument arguments[] = {
	    heddle_opencl_memory(x->a.memory ? x->a.memory : any),
	    heddle_opencl_memory(x->b.memory ? x->b.memory : any),
	    heddle_opencl_memory(any),
	    heddle_opencl_memory(w->scratch ? w->scratch : any),
	    heddle_opencl_value(shape),
	    heddle_opencl_bytes(&alpha.parts, w->elem_size),
	    heddle_opencl_bytes(&beta.parts, w->elem_size),
	};
	w->status = heddle_opencl_run(w->c, kernel, range, sizeof arguments / sizeof *arguments, arguments);
}

static size_t groups(int n, size_t each)
{
	return ((size_t)n + each - 1) / each;
}

void hd_ocl_product(struct hd_ocl *w, const struct hd_ocl_call *x)
{
	if (w->status || x->c.m == 0 || x->c.n == 0)
		return;
	if (w->clblast && hd_clblast_can(x)) {
		w->status = hd_clblast_product(w, x);
		return;
	}
	run(w, "product", x,
	    &(struct heddle_opencl_range){{groups(x->c.m, BLOCK) * SIDE, groups(x->c.n, BLOCK) * SIDE}, {SIDE, SIDE}});
}

/* A kernel with a work-item for each element of C. */
static void run_on_elements(struct hd_ocl *w, const char *name, const struct hd_ocl_call *x)
{
	if (x->c.m > 0 && x->c.n > 0)
		run(w, name, x, &(struct heddle_opencl_range){{(size_t)x->c.m, (size_t)x->c.n}, {SIDE, SIDE}});
}

void hd_ocl_combine(struct hd_ocl *w, const struct hd_ocl_call *x)
{
	run_on_elements(w, "combine", x);
}

/* The order of the first part of a matrix that is divided: a multiple of the size of leaves. */
static int half_of(int order)
{
	return (order / 2 + HD_OCL_LEAF - 1) / HD_OCL_LEAF * HD_OCL_LEAF;
}

/* Recursive, by halves, like P(trsm) in kernels/blas3_template.h. */
void hd_ocl_solve(struct hd_ocl *w, const struct hd_ocl_call *x)
{
	int right = x->flags & HD_OCL_RIGHT, order = right ? x->c.n : x->c.m, systems = right ? x->c.m : x->c.n;
	if (w->status || order == 0 || systems == 0)
		return;
	struct hd_ocl_call part = *x;
	if (order <= HD_OCL_LEAF) {
		part.k = order;
		run(w, "solve", &part, &(struct heddle_opencl_range){{groups(systems, ITEMS) * ITEMS}, {ITEMS}});
		return;
	}
	int lower = !(x->flags & HD_OCL_A_LOWER) == !!(x->flags & HD_OCL_TRANS_A);
	int half = half_of(order), rest = order - half, top_first = lower != !!right;
	int first = top_first ? 0 : half, last = half - first;
	int n_first = top_first ? half : rest, n_last = order - n_first;
	struct hd_ocl_matrix off =
	    x->flags & HD_OCL_A_LOWER ? hd_ocl_part(x->a, half, 0, rest, half) : hd_ocl_part(x->a, 0, half, half, rest);
	struct hd_ocl_matrix from =
	    right ? hd_ocl_part(x->c, 0, first, x->c.m, n_first) : hd_ocl_part(x->c, first, 0, n_first, x->c.n);
	struct hd_ocl_matrix to =
	    right ? hd_ocl_part(x->c, 0, last, x->c.m, n_last) : hd_ocl_part(x->c, last, 0, n_last, x->c.n);
	part.a = hd_ocl_part(x->a, first, first, n_first, n_first);
	part.c = from;
	hd_ocl_solve(w, &part);
	int op = x->flags & (HD_OCL_TRANS_A | HD_OCL_CONJ_A);
	struct hd_ocl_call product = {.alpha = {-1, 0}, .beta = x->alpha, .c = to, .k = n_first};
	product.a = right ? from : off;
	product.b = right ? off : from;
	product.flags = right ? op * (HD_OCL_TRANS_B / HD_OCL_TRANS_A) : op;
	hd_ocl_product(w, &product);
	part.alpha = (heddle_dense_scalar){1, 0};
	part.a = hd_ocl_part(x->a, last, last, n_last, n_last);
	part.c = to;
	hd_ocl_solve(w, &part);
}

/* --- Factorisations ----------------------------------------------------------------------------------------------- */

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* A kernel of one group on a block of the diagonal, which is `i` rows below the first. */
static void run_on_block(struct hd_ocl *w, const char *name, int flags, struct hd_ocl_matrix block, int i)
{
	const struct hd_ocl_call x = {.flags = flags | (i == 0 ? HD_OCL_FIRST : 0), .c = block, .diagonal = i};
	run(w, name, &x, &(struct heddle_opencl_range){{HD_OCL_LEAF}, {HD_OCL_LEAF}});
}

void hd_ocl_cholesky(struct hd_ocl *w, int flags, struct hd_ocl_matrix c)
{
	const heddle_dense_scalar one = {1, 0}, minus_one = {-1, 0};
	int lower = flags & HD_OCL_LOWER, conjugate = HD_OCL_TRANS_A | HD_OCL_CONJ_A;
	for (int j = 0; j < c.n; j += HD_OCL_LEAF) {
		int n = smaller(HD_OCL_LEAF, c.n - j), next = j + n, rest = c.n - next;
		struct hd_ocl_matrix block = hd_ocl_part(c, j, j, n, n);
		struct hd_ocl_matrix off = lower ? hd_ocl_part(c, next, j, rest, n) : hd_ocl_part(c, j, next, n, rest);
		run_on_block(w, "cholesky", flags, block, j);
		struct hd_ocl_call solve = {.alpha = one, .a = block, .c = off};
		solve.flags = lower ? conjugate | HD_OCL_RIGHT | HD_OCL_A_LOWER : conjugate | HD_OCL_A_UPPER;
		hd_ocl_solve(w, &solve);
		struct hd_ocl_call update = {.alpha = minus_one, .beta = one, .a = off, .b = off, .k = n};
		update.flags = (lower ? HD_OCL_LOWER | HD_OCL_TRANS_B | HD_OCL_CONJ_B : HD_OCL_UPPER | conjugate) |
		               HD_OCL_REAL_DIAGONAL;
		update.c = hd_ocl_part(c, next, next, rest, rest);
		hd_ocl_product(w, &update);
	}
}

void hd_ocl_lu(struct hd_ocl *w, struct hd_ocl_matrix c)
{
	const heddle_dense_scalar one = {1, 0}, minus_one = {-1, 0};
	for (int j = 0; j < c.m && j < c.n; j += HD_OCL_LEAF) {
		int m = smaller(HD_OCL_LEAF, c.m - j), n = smaller(HD_OCL_LEAF, c.n - j), steps = smaller(m, n);
		int below = c.m - j - m, beside = c.n - j - n;
		struct hd_ocl_matrix block = hd_ocl_part(c, j, j, steps, steps);
		struct hd_ocl_matrix low = hd_ocl_part(c, j + m, j, below, steps);
		struct hd_ocl_matrix up = hd_ocl_part(c, j, j + n, steps, beside);
		run_on_block(w, "lu", 0, hd_ocl_part(c, j, j, m, n), j);
		hd_ocl_solve(w, &(struct hd_ocl_call){.flags = HD_OCL_RIGHT | HD_OCL_A_UPPER | HD_OCL_SKIP_ZEROS,
		                                      .alpha = one,
		                                      .a = block,
		                                      .c = low});
		hd_ocl_solve(w, &(struct hd_ocl_call){
		                    .flags = HD_OCL_A_LOWER | HD_OCL_A_UNIT, .alpha = one, .a = block, .c = up});
		hd_ocl_product(w, &(struct hd_ocl_call){.alpha = minus_one,
		                                        .beta = one,
		                                        .a = low,
		                                        .b = up,
		                                        .c = hd_ocl_part(c, j + m, j + n, below, beside),
		                                        .k = steps});
	}
}

void hd_ocl_zeros(struct hd_ocl *w, struct hd_ocl_matrix a)
{
	const struct hd_ocl_call x = {.flags = HD_OCL_FIRST, .a = a, .c = a};
	run(w, "zeros", &x, &(struct heddle_opencl_range){{1}, {1}});
}

void hd_ocl_look(struct hd_ocl *w, int flags, struct hd_ocl_matrix a, int diagonal)
{
	struct hd_ocl_call x = {.flags = HD_OCL_FIRST, .a = a, .c = a};
	run(w, "look", &x, &(struct heddle_opencl_range){{SIDE, SIDE}, {SIDE, SIDE}});
	x.flags = flags;
	x.diagonal = diagonal;
	run_on_elements(w, "look", &x);
}

/* --- Random matrices and norms ------------------------------------------------------------------------------------ */

void hd_ocl_random(struct hd_ocl *w, struct hd_ocl_matrix c, const struct hd_dense_window *window)
{
	enum heddle_dense_random kind = window->kind;
	int hermitian = kind == HEDDLE_DENSE_SPD || kind == HEDDLE_DENSE_HERMITIAN;
	int dominant = kind == HEDDLE_DENSE_SPD || kind == HEDDLE_DENSE_DOMINANT;
	struct hd_ocl_call x = {.c = c, .k = (int)window->row};
	x.flags = (hermitian ? HD_OCL_A_HERMITIAN : 0) | (dominant ? HD_OCL_A_IDENTITY : 0) |
	          (hermitian || kind == HEDDLE_DENSE_SYMMETRIC ? HD_OCL_A_MIRRORED : 0);
	x.diagonal = (int)((ptrdiff_t)window->column - (ptrdiff_t)window->row);
	x.a.at = (int64_t)window->seed;
	x.b.at = (int64_t)window->order;
	x.c.m = (int)window->rows;
	x.c.n = (int)window->columns;
	run_on_elements(w, "random", &x);
}

void hd_ocl_squares(struct hd_ocl *w, int flags, struct hd_ocl_matrix a, struct hd_ocl_matrix sum, int diagonal)
{
	enum { ADDERS = 256 };
	struct hd_ocl_call x = {.flags = flags, .a = a, .c = sum, .diagonal = diagonal};
	x.c.m = a.m;
	x.c.n = a.n;
	run(w, "squares", &x, &(struct heddle_opencl_range){{ADDERS}, {ADDERS}});
}

/* --- What was found ----------------------------------------------------------------------------------------------- */

/* Called when the report has arrived. If the work has failed, the driver reports the failure of the kernel. */
static void arrived(void *arg, int result)
{
	struct report *r = arg;
	struct hd_dense_verdict verdict = {0};
	if (result == 0 && r->found[0] != NOTHING_CAME)
		verdict = r->judge(r->value, r->found);
	if (result == 0 && r->found[0] == NOTHING_CAME)
		heddle_event_fail(r->event, -1, "what the kernel has found could not be read from the device");
	else if (verdict.code)
		heddle_event_fail(r->event, verdict.code, "%s", verdict.sentence);
	else
		heddle_fulfill(r->event, 0);
	free(r);
}

int hd_ocl_end_judged(struct hd_ocl *w, hd_ocl_judge judge)
{
	if (w->status)
		return w->status;
	struct stream *s = stream_of(w->c);
	struct report *r = s ? calloc(1, sizeof *r) : NULL;
	if (!r)
		return heddle_fail(w->c, HEDDLE_E_MEMORY, "out of memory for what a kernel finds");
	r->event = heddle_detach(w->c);
	if (!r->event) {
		free(r);
		return heddle_fail(w->c, HEDDLE_E_KERNEL, "%s", heddle_last_error());
	}
	r->judge = judge;
	r->found[0] = NOTHING_CAME;
	r->value = heddle_value_ptr(w->c, 0);
	w->status =
	    heddle_opencl_failed(w->c,
	                         hd_ocl_load()->clEnqueueReadBuffer(heddle_stream(w->c), w->scratch, CL_FALSE, 0,
	                                                            sizeof r->found, r->found, 0, NULL, NULL),
	                         "clEnqueueReadBuffer");
	if (w->status == 0)
		w->status = heddle_opencl_then(w->c, arrived, r);
	if (w->status) {
		heddle_fulfill(r->event, 0);
		r->next = s->unsent;
		s->unsent = r;
	}
	return w->status;
}
