/* Calls that wait: a routine on arrays of the program.
 *
 * In place, the tiles are windows of the arrays. In the tiled layout, the tasks of the call begin with copies to
 * contiguous tiles and end with copies back, in the same flow, so that the computation begins before everything is
 * copied.
 */
#include <dense/internal.h>
#include <stdio.h>
#include <string.h>

struct hd_dense_call {
	const struct hd_dense_operation *operation;
	struct hd_dense_operand operands[HD_DENSE_MAX_OPERANDS];
	size_t n;
	/* owns; the matrices whose tiles are windows of the arrays */
	heddle_dense_matrix *windows[HD_DENSE_MAX_OPERANDS];
	heddle_dense_matrix *tiles[HD_DENSE_MAX_OPERANDS]; /* tiled layout: the copies; owns */
	/* index of an earlier operand with the same array, or of the operand itself */
	int same_as[HD_DENSE_MAX_OPERANDS];
};

/* The window of tile (i, j), without the rows that the routine does not read. */
static struct hd_dense_window window_of(const heddle_dense_matrix *a, const struct hd_dense_operand *operand, size_t i,
                                        size_t j)
{
	struct hd_dense_window w = hd_dense_tile_window(a, i, j);
	size_t end = a->shape.rows - operand->unread;
	w.name = operand->name;
	w.diag = operand->diag;
	if (w.row + w.rows > end)
		w.rows = end > w.row ? end - w.row : 0;
	return w;
}

void hd_dense_copy_tasks(struct hd_dense_flow *flow, const heddle_dense_matrix *to, const heddle_dense_matrix *from,
                         const struct hd_dense_operand *operand)
{
	for (size_t j = 0; j < to->nt; j++) {
		for (size_t i = 0; i < to->mt; i++) {
			if (!hd_dense_has_tile(to, i, j))
				continue;
			struct hd_dense_window w = window_of(from, operand, i, j);
			hd_dense_insert(
			    flow, HD_DENSE_COPY,
			    heddle_access(hd_dense_overwrites(to, to->shape.uplo, i, j), hd_dense_tile(to, i, j)),
			    heddle_r(hd_dense_tile(from, i, j)), heddle_value(w));
		}
	}
}

/* Inserts tasks that look for NaN. A task that finds NaN fails. For a tile that the routine writes, the task declares
 * to write the tile, so all later tasks on the tile are cancelled. For tiles that the routine only reads, the task
 * declares to read: they may lie in read-only memory, and replicas on devices stay valid. */
static void finite_tasks(struct hd_dense_flow *flow, const heddle_dense_matrix *a,
                         const struct hd_dense_operand *operand)
{
	enum heddle_mode mode = operand->mode & HEDDLE_W ? HEDDLE_RW : HEDDLE_R;
	for (size_t j = 0; j < a->nt; j++) {
		for (size_t i = 0; i < a->mt; i++) {
			if (!hd_dense_has_tile(a, i, j) || !hd_dense_is_in(operand->uplo, i, j))
				continue;
			struct hd_dense_window w = window_of(a, operand, i, j);
			w.uplo = operand->uplo;
			hd_dense_insert(flow, HD_DENSE_FINITE, heddle_access(mode, hd_dense_tile(a, i, j)),
			                heddle_value(w));
		}
	}
}

int heddle_dense_finite_submit(heddle_dense_matrix *a, enum heddle_dense_uplo uplo, const char *name)
{
	static const char function[] = "heddle_dense_finite_submit";
	if (!a || !name)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a matrix and its name", function);
	if (uplo == HEDDLE_DENSE_GENERAL)
		uplo = a->shape.uplo;
	int status = uplo == HEDDLE_DENSE_GENERAL ? 0 : hd_dense_check_triangle(function, a, uplo);
	if (status < 0)
		return status;
	struct hd_dense_flow flow = hd_dense_flow_of(a);
	finite_tasks(&flow, a, &(struct hd_dense_operand){.name = name, .uplo = uplo, .mode = HEDDLE_RW});
	return flow.status;
}

static void call_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const struct hd_dense_call *call = x->call;
	for (size_t i = 0; i < call->n; i++) {
		struct hd_dense_operand o = call->operands[i];
		int reads = (o.mode & HEDDLE_R) != 0;
		if (call->same_as[i] != (int)i)
			continue;
		if (flow->options.trust)
			o.name = NULL;
		if (call->tiles[i] && reads)
			hd_dense_copy_tasks(flow, call->tiles[i], call->windows[i], &o);
		else if (reads && o.name)
			finite_tasks(flow, call->windows[i], &o);
	}
	call->operation->tasks(flow, x);
	for (size_t i = 0; i < call->n; i++) {
		struct hd_dense_operand result = {.diag = call->operands[i].diag};
		if (call->tiles[i] && call->operands[i].mode & HEDDLE_W)
			hd_dense_copy_tasks(flow, call->windows[i], call->tiles[i], &result);
	}
}

static int check_operand(const char *routine, const struct hd_dense_operand *o, const struct hd_dense_operand *first)
{
	const struct heddle_dense_array *a = o->array;
	if (!a)
		return heddle_error(HEDDLE_E_INVALID, "%s: matrix %s is NULL", routine, o->name);
	if (!a->data && a->rows > 0 && a->columns > 0)
		return heddle_error(HEDDLE_E_INVALID, "%s: matrix %s is %zu x %zu and has no data", routine, o->name,
		                    a->rows, a->columns);
	if (a->precision != first->array->precision)
		return heddle_error(HEDDLE_E_INVALID, "%s: matrices %s and %s have different precisions", routine,
		                    first->name, o->name);
	return 0;
}

/* The operand with mode 0 instead of a read if its factor is 0. */
static struct hd_dense_operand as_used(const struct hd_dense_operand *o)
{
	struct hd_dense_operand used = *o;
	if (o->factor && hd_dense_is(hd_dense_factor(o->array->precision, *o->factor), 0))
		used.mode &= ~HEDDLE_R;
	return used;
}

/* Notes the earlier operand that is the same matrix as operand i. A matrix that is written must be no other operand. */
static int find_same(struct hd_dense_call *call, size_t i)
{
	const struct hd_dense_operand *o = &call->operands[i];
	const struct heddle_dense_array *a = o->array;
	call->same_as[i] = (int)i;
	for (size_t j = i; j-- > 0 && a->data;) {
		const struct hd_dense_operand *before = &call->operands[j];
		const struct heddle_dense_array *b = before->array;
		if (b->data != a->data || a->rows == 0 || a->columns == 0 || b->rows == 0 || b->columns == 0)
			continue;
		if ((o->mode | before->mode) & HEDDLE_W)
			return heddle_error(HEDDLE_E_INVALID,
			                    "%s: matrices %s and %s are the same array, and one of them is written",
			                    call->operation->name, before->name, o->name);
		if (a->rows == b->rows && a->columns == b->columns && a->ld == b->ld && o->uplo == before->uplo &&
		    o->diag == before->diag)
			call->same_as[i] = (int)j;
	}
	return 0;
}

/* Puts the routine and the matrix in front of the last error's message. */
static int error_of(const char *routine, const struct hd_dense_operand *o, int status)
{
	char message[600];
	snprintf(message, sizeof message, "%s", heddle_last_error());
	return heddle_error(status, "%s: matrix %s: %s", routine, o->name, message);
}

/* Makes the matrix of operand i. */
static int open_operand(heddle_dense *dense, struct hd_dense_call *call, size_t i, size_t tile,
                        enum heddle_dense_layout layout)
{
	const struct hd_dense_operand *o = &call->operands[i];
	const struct heddle_dense_array *a = o->array;
	static double nothing; /* the data of a matrix without elements */
	struct heddle_dense_shape shape = {
	    .precision = a->precision, .rows = a->rows, .columns = a->columns, .tile = tile, .uplo = o->uplo};
	int status = find_same(call, i);
	if (status < 0 || call->same_as[i] != (int)i)
		return status;
	status = heddle_dense_matrix_create(dense, &shape, a->data ? a->data : &nothing, a->ld, &call->windows[i]);
	if (status >= 0 && layout == HEDDLE_DENSE_TILED)
		status = heddle_dense_matrix_create(dense, &shape, NULL, 0, &call->tiles[i]);
	return status < 0 ? error_of(call->operation->name, o, status) : 0;
}

static int close_call(struct hd_dense_call *call, int status)
{
	for (size_t i = 0; i < call->n; i++) {
		status = hd_dense_finish(call->tiles[i], status);
		status = hd_dense_finish(call->windows[i], status);
	}
	return status;
}

int hd_dense_call(heddle_dense *dense, const struct hd_dense_operation *operation, struct hd_dense_args *x,
                  const struct hd_dense_operand *operands, const struct heddle_dense_options *options)
{
	size_t n = strlen(operation->matrices);
	struct hd_dense_call call = {.operation = operation, .n = n};
	struct hd_dense_operation whole = *operation; /* with the same checks */
	whole.tasks = call_tasks;
	struct heddle_dense_options defaults = {.tile = 0};
	options = options ? options : &defaults;
	if (!dense)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a dense context (heddle_dense_open)", operation->name);
	int status = 0;
	size_t largest = 1;
	for (size_t i = 0; i < n; i++) {
		const struct heddle_dense_array *a = operands[i].array;
		status = check_operand(operation->name, &operands[i], &operands[0]);
		if (status < 0)
			return status;
		call.operands[i] = as_used(&operands[i]);
		largest = a->rows > largest ? a->rows : largest;
		largest = a->columns > largest ? a->columns : largest;
	}
	enum heddle_dense_precision precision = operands[0].array->precision;
	size_t tile = options->tile ? options->tile : hd_dense_default_tile(dense, operation->name, precision, largest);
	for (size_t i = 0; status >= 0 && i < n; i++) {
		status = open_operand(dense, &call, i, tile, options->layout);
		if (status >= 0) {
			size_t j = (size_t)call.same_as[i];
			x->m[i] = call.tiles[j] ? call.tiles[j] : call.windows[j];
			status = hd_dense_check_space(x->m[i]);
		}
	}
	x->call = &call;
	if (status >= 0 && x->open)
		status = x->open(x);
	struct hd_dense_scope scope;
	if (status >= 0 && (status = hd_dense_scope_open(dense, &scope)) >= 0)
		status = hd_dense_scope_close(dense, &scope, hd_dense_submit(&whole, x, options));
	if (x->close)
		status = x->close(x, status);
	return close_call(&call, status);
}
