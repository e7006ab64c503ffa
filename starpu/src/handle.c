/* Handles: their memory, their end, and what is asked of a datum. */
#include "internal.h"
#include <heddle/opencl.h>

/* The roots, for starpu_data_lookup. The lock protects the list. */
static struct starpu_data_state *roots;
static pthread_mutex_t roots_lock = PTHREAD_MUTEX_INITIALIZER;
/* The flag of handles that are registered later: see starpu_data_set_default_sequential_consistency_flag. Relaxed:
 * the program orders its calls. */
static _Atomic unsigned char unordered_by_default;

static void list_root(struct starpu_data_state *h)
{
	pthread_mutex_lock(&roots_lock);
	h->previous = NULL;
	h->next = roots;
	if (roots)
		roots->previous = h;
	roots = h;
	pthread_mutex_unlock(&roots_lock);
}

static void unlist_root(struct starpu_data_state *h)
{
	pthread_mutex_lock(&roots_lock);
	*(h->previous ? &h->previous->next : &roots) = h->next;
	if (h->next)
		h->next->previous = h->previous;
	pthread_mutex_unlock(&roots_lock);
}

struct starpu_data_state *hd_handle_new(enum starpu_data_interface_id kind)
{
	struct starpu_data_state *h = calloc(1, sizeof *h);
	if (!h)
		return NULL;
	static const struct hd_kind own = {STARPU_MAX_INTERFACE_ID, 0, {0}, NULL, NULL};
	h->kind = hd_kind_of(kind) ? hd_kind_of(kind) : &own;
	h->interface.id = kind;
	for (unsigned char d = 0; d < HEDDLE_MAX_DIMS; d++)
		h->dim_of[d] = d;
	return h;
}

struct starpu_data_state *hd_handle_child(struct starpu_data_state *parent, enum starpu_data_interface_id kind)
{
	struct starpu_data_state *h = hd_handle_new(kind);
	if (!h)
		return NULL;
	h->parent = parent;
	h->has_buffer = parent->has_buffer;
	h->has_value = parent->has_value;
	h->unordered = parent->unordered;
	h->init = parent->init;
	h->has_plans = true; /* its own accesses are ordered by those of the tree */
	return h;
}

/* Frees the handle and its children; Heddle's datum is not touched. */
void hd_handle_free(struct starpu_data_state *h)
{
	for (unsigned i = 0; i < h->n_children; i++)
		hd_handle_free(h->children[i]);
	free(h->children);
	hd_object_free(h);
	free(h);
}

void hd_starpu_forget_handles(void)
{
	while (roots) {
		struct starpu_data_state *h = roots;
		roots = h->next;
		hd_handle_free(h);
	}
}

void hd_handle_registered(const char *function, struct starpu_data_state *h, int status, starpu_data_handle_t *out)
{
	*out = NULL;
	if (hd_starpu_complain(function, status)) {
		hd_object_free(h);
		free(h);
		return;
	}
	h->has_value = h->has_buffer;
	h->unordered = unordered_by_default;
	heddle_data_set_user(h->data, h);
	list_root(h);
	*out = h;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

void starpu_data_unregister(starpu_data_handle_t h)
{
	int status = heddle_unregister(h->data);
	if (status != HEDDLE_E_CANCELLED) /* nobody has computed the value, or it was invalidated: no error in StarPU */
		hd_starpu_complain(__func__, status);
	if (h->turns)
		heddle_unregister_async(h->turns);
	unlist_root(h);
	hd_handle_free(h);
}

void starpu_data_unregister_no_coherency(starpu_data_handle_t h)
{
	starpu_data_unregister(h);
}

static void free_after_last_use(void *handle, int status)
{
	(void)status;
	hd_handle_free(handle);
}

/* The kernels of submitted tasks still read the handle, so a task without a kernel frees it after them. */
void starpu_data_unregister_submit(starpu_data_handle_t h)
{
	heddle_data *data = h->data;
	struct heddle_item access = h->has_value ? heddle_rw(data) : heddle_w(data);
	unlist_root(h);
	if (h->turns)
		heddle_unregister_async(h->turns);
	int status = heddle_submit(hd_starpu_runtime, access, heddle_then(free_after_last_use, h));
	hd_starpu_complain(__func__, status ? status : heddle_unregister_async(data));
}

/* --- What kernels see --------------------------------------------------------------------------------------------- */

void *hd_handle_show(const struct starpu_data_state *h, const heddle_context *c, size_t i, union hd_interface *out)
{
	struct heddle_part part;
	if (h->ops) {
		struct hd_object *object = heddle_ptr(c, i);
		return object->interface;
	}
	*out = h->interface;
	if (h->kind->place) {
		size_t ld[HEDDLE_MAX_DIMS] = {1, 1, 1, 1};
		if (out->id > STARPU_VECTOR_INTERFACE_ID && !heddle_context_part(c, i, 0, &part))
			for (unsigned d = 1; d < HEDDLE_MAX_DIMS; d++)
				ld[d] = part.stride[h->dim_of[d]];
		h->kind->place(out, (uintptr_t)heddle_ptr(c, i), ld);
		if (heddle_stream(c) && starpu_worker_get_type((int)heddle_context_worker(c)) == STARPU_OPENCL_WORKER) {
			/* the dense kinds begin alike; `ptr` stays the address that Heddle knows */
			out->variable.dev_handle =
			    (uintptr_t)heddle_opencl_buffer((heddle_context *)(uintptr_t)c, i, &out->variable.offset);
		}
		return out;
	}
	for (unsigned k = 0; k < h->kind->n_parts; k++)
		if (!heddle_context_part(c, i, k, &part))
			memcpy((char *)out + h->kind->address[k], &part.base, sizeof part.base);
	return out;
}

/* Fills *out for main memory. */
static void show_in_main_memory(struct starpu_data_state *h, union hd_interface *out)
{
	struct heddle_part part;
	*out = h->interface;
	if (h->kind->place) {
		size_t ld[HEDDLE_MAX_DIMS] = {1, 1, 1, 1};
		if (heddle_data_part(h->data, 0, &part))
			return;
		for (unsigned d = 1; d < HEDDLE_MAX_DIMS; d++)
			ld[d] = part.stride[h->dim_of[d]];
		h->kind->place(out, (uintptr_t)part.base, ld);
		return;
	}
	for (unsigned k = 0; k < h->kind->n_parts; k++)
		if (!heddle_data_part(h->data, k, &part))
			memcpy((char *)out + h->kind->address[k], &part.base, sizeof part.base);
}

void *starpu_data_get_interface_on_node(starpu_data_handle_t h, unsigned node)
{
	if (h->registering)
		return h->registering + node * h->ops->interface_size;
	if (h->ops)
		return h->object->interface;
	if (node == STARPU_MAIN_RAM)
		show_in_main_memory(h, &h->shown);
	else
		h->shown = h->interface;
	return &h->shown;
}

/* --- Questions ---------------------------------------------------------------------------------------------------- */

enum starpu_data_interface_id starpu_data_get_interface_id(starpu_data_handle_t h)
{
	return h->interface.id;
}

size_t starpu_data_get_size(starpu_data_handle_t h)
{
	if (h->ops)
		return h->ops->get_size(h);
	return h->interface.id == STARPU_VOID_INTERFACE_ID ? 0 : heddle_data_bytes(h->data);
}

size_t starpu_data_get_alloc_size(starpu_data_handle_t h)
{
	return starpu_data_get_size(h);
}

void *starpu_data_get_local_ptr(starpu_data_handle_t h)
{
	return h->ops ? starpu_data_handle_to_pointer(h, STARPU_MAIN_RAM) : heddle_data_ptr(h->data);
}

void *starpu_data_handle_to_pointer(starpu_data_handle_t h, unsigned node)
{
	if (h->ops)
		return h->ops->to_pointer ? h->ops->to_pointer(h->object->interface, node) : NULL;
	return node == STARPU_MAIN_RAM && h->interface.id != STARPU_VOID_INTERFACE_ID ? heddle_data_ptr(h->data) : NULL;
}

int starpu_data_pointer_is_inside(starpu_data_handle_t h, unsigned node, void *ptr)
{
	struct heddle_part part;
	if (h->ops)
		return h->ops->pointer_is_inside && h->ops->pointer_is_inside(h->object->interface, node, ptr);
	if (node != STARPU_MAIN_RAM)
		return 0;
	for (unsigned k = 0; k < h->kind->n_parts && !heddle_data_part(h->data, k, &part); k++) {
		size_t elements = 1;
		for (unsigned d = 0; d < part.n_dims; d++)
			elements += part.n[d] ? (part.n[d] - 1) * part.stride[d] : 0;
		if (part.base && (char *)ptr >= (char *)part.base &&
		    (char *)ptr < (char *)part.base + elements * part.elem_size)
			return 1;
	}
	return 0;
}

/* The innermost of a handle and its children that begins at `ptr`. */
static struct starpu_data_state *find(struct starpu_data_state *h, const void *ptr)
{
	for (unsigned i = 0; i < h->n_children; i++) {
		struct starpu_data_state *inner = find(h->children[i], ptr);
		if (inner)
			return inner;
	}
	return ptr && h->kind->n_parts && heddle_data_ptr(h->data) == ptr ? h : NULL;
}

starpu_data_handle_t starpu_data_lookup(const void *ptr)
{
	struct starpu_data_state *h, *found = NULL;
	pthread_mutex_lock(&roots_lock);
	for (h = roots; h && !found; h = h->next)
		found = find(h, ptr);
	pthread_mutex_unlock(&roots_lock);
	return found;
}

int starpu_data_test_if_allocated_on_node(starpu_data_handle_t h, unsigned node)
{
	return heddle_data_valid_on(h->data, node);
}

#define HD_ASK(kind, type, name, field)                         \
	type starpu_##kind##_get_##name(starpu_data_handle_t h) \
	{                                                       \
		return h->interface.kind.field;                 \
	}
#define HD_ASK_HERE(kind, type, name, field)                          \
	type starpu_##kind##_get_local_##name(starpu_data_handle_t h) \
	{                                                             \
		union hd_interface here;                              \
		show_in_main_memory(h, &here);                        \
		return here.kind.field;                               \
	}
HD_ASK(variable, size_t, elemsize, elemsize);
HD_ASK_HERE(variable, uintptr_t, ptr, ptr);
HD_ASK(vector, uint32_t, nx, nx);
HD_ASK(vector, size_t, elemsize, elemsize);
HD_ASK_HERE(vector, uintptr_t, ptr, ptr);
HD_ASK(matrix, uint32_t, nx, nx);
HD_ASK(matrix, uint32_t, ny, ny);
HD_ASK(matrix, size_t, elemsize, elemsize);
HD_ASK_HERE(matrix, uintptr_t, ptr, ptr);
HD_ASK_HERE(matrix, uint32_t, ld, ld);
HD_ASK(block, uint32_t, nx, nx);
HD_ASK(block, uint32_t, ny, ny);
HD_ASK(block, uint32_t, nz, nz);
HD_ASK(block, size_t, elemsize, elemsize);
HD_ASK_HERE(block, uintptr_t, ptr, ptr);
HD_ASK_HERE(block, uint32_t, ldy, ldy);
HD_ASK_HERE(block, uint32_t, ldz, ldz);
HD_ASK(tensor, uint32_t, nx, nx);
HD_ASK(tensor, uint32_t, ny, ny);
HD_ASK(tensor, uint32_t, nz, nz);
HD_ASK(tensor, uint32_t, nt, nt);
HD_ASK(tensor, size_t, elemsize, elemsize);
HD_ASK_HERE(tensor, uintptr_t, ptr, ptr);
HD_ASK_HERE(tensor, uint32_t, ldy, ldy);
HD_ASK_HERE(tensor, uint32_t, ldz, ldz);
HD_ASK_HERE(tensor, uint32_t, ldt, ldt);
HD_ASK(csr, uint32_t, nnz, nnz);
HD_ASK(csr, uint32_t, nrow, nrow);
HD_ASK(csr, uint32_t, firstentry, firstentry);
HD_ASK(csr, size_t, elemsize, elemsize);
HD_ASK_HERE(csr, uintptr_t, nzval, nzval);
HD_ASK_HERE(csr, uint32_t *, colind, colind);
HD_ASK_HERE(csr, uint32_t *, rowptr, rowptr);
HD_ASK(bcsr, uint32_t, nnz, nnz);
HD_ASK(bcsr, uint32_t, nrow, nrow);
HD_ASK(bcsr, uint32_t, firstentry, firstentry);
HD_ASK(bcsr, uint32_t, r, r);
HD_ASK(bcsr, uint32_t, c, c);
HD_ASK(bcsr, size_t, elemsize, elemsize);
HD_ASK_HERE(bcsr, uintptr_t, nzval, nzval);
HD_ASK_HERE(bcsr, uint32_t *, colind, colind);
HD_ASK_HERE(bcsr, uint32_t *, rowptr, rowptr);

/* --- Marks and hints ---------------------------------------------------------------------------------------------- */

void starpu_data_set_name(starpu_data_handle_t h, const char *name)
{
	heddle_data_set_name(h->data, name ? name : "");
}

void starpu_data_set_user_data(starpu_data_handle_t h, void *user_data)
{
	h->user = user_data;
}

void *starpu_data_get_user_data(starpu_data_handle_t h)
{
	return h->user;
}

void starpu_data_set_sched_data(starpu_data_handle_t h, void *sched_data)
{
	h->sched = sched_data;
}

void *starpu_data_get_sched_data(starpu_data_handle_t h)
{
	return h->sched;
}

void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t h, unsigned flag)
{
	h->unordered = !flag;
	for (unsigned i = 0; i < h->n_children; i++)
		starpu_data_set_sequential_consistency_flag(h->children[i], flag);
}

unsigned starpu_data_get_sequential_consistency_flag(starpu_data_handle_t h)
{
	return !h->unordered;
}

unsigned starpu_data_get_default_sequential_consistency_flag(void)
{
	return !unordered_by_default;
}

void starpu_data_set_default_sequential_consistency_flag(unsigned flag)
{
	unordered_by_default = !flag;
}

int starpu_data_prefetch_on_node(starpu_data_handle_t h, unsigned node, unsigned async)
{
	(void)async;
	return hd_starpu_errno(heddle_prefetch(h->data, node));
}

int starpu_data_fetch_on_node(starpu_data_handle_t h, unsigned node, unsigned async)
{
	if (node == STARPU_MAIN_RAM && !async && h->has_value) {
		int error = starpu_data_acquire(h, STARPU_R);
		if (!error)
			starpu_data_release(h);
		return error;
	}
	return starpu_data_prefetch_on_node(h, node, async);
}

int starpu_data_idle_prefetch_on_node(starpu_data_handle_t h, unsigned node, unsigned async)
{
	return starpu_data_prefetch_on_node(h, node, async);
}

int starpu_data_request_allocation(starpu_data_handle_t h, unsigned node)
{
	(void)h, (void)node;
	return 0;
}

void starpu_data_wont_use(starpu_data_handle_t h)
{
	(void)h;
}

void starpu_data_set_wt_mask(starpu_data_handle_t h, uint32_t mask)
{
	(void)h, (void)mask;
}

void starpu_data_set_ooc_flag(starpu_data_handle_t h, unsigned flag)
{
	(void)h, (void)flag;
}

unsigned starpu_data_get_ooc_flag(starpu_data_handle_t h)
{
	(void)h;
	return 1;
}

void starpu_data_advise_as_important(starpu_data_handle_t h, unsigned is_important)
{
	(void)h, (void)is_important;
}

int starpu_data_evict_from_node(starpu_data_handle_t h, unsigned node)
{
	(void)h, (void)node;
	return -1;
}

void starpu_data_set_coordinates(starpu_data_handle_t h, unsigned n, ...)
{
	(void)h, (void)n;
}

void starpu_data_set_coordinates_array(starpu_data_handle_t h, unsigned n, int coordinates[])
{
	(void)h, (void)n, (void)coordinates;
}

struct starpu_arbiter {
	char none;
};

starpu_arbiter_t starpu_arbiter_create(void)
{
	return malloc(sizeof(struct starpu_arbiter));
}

void starpu_arbiter_destroy(starpu_arbiter_t arbiter)
{
	free(arbiter);
}

void starpu_data_assign_arbiter(starpu_data_handle_t h, starpu_arbiter_t arbiter)
{
	(void)h, (void)arbiter;
}

/* --- Packing ------------------------------------------------------------------------------------------------------ */

/* Copies the elements of a part to dense memory (`in`: from there) and returns the address behind. */
static char *copy_part(const struct heddle_part *part, char *dense, bool in)
{
	size_t n[HEDDLE_MAX_DIMS] = {1, 1, 1, 1}, s[HEDDLE_MAX_DIMS] = {0};
	for (unsigned d = 0; d < part->n_dims; d++) {
		n[d] = part->n[d];
		s[d] = part->stride[d] * part->elem_size;
	}
	size_t line = n[0] * part->elem_size;
	for (size_t t = 0; t < n[3]; t++)
		for (size_t z = 0; z < n[2]; z++)
			for (size_t y = 0; y < n[1]; y++, dense += line) {
				char *here = (char *)part->base + t * s[3] + z * s[2] + y * s[1];
				memcpy(in ? here : dense, in ? dense : here, line);
			}
	return dense;
}

int starpu_data_pack(starpu_data_handle_t h, void **ptr, starpu_ssize_t *size)
{
	struct heddle_part part;
	if (h->ops)
		return h->ops->pack_data ? h->ops->pack_data(h, STARPU_MAIN_RAM, ptr, size) : -ENOSYS;
	*size = (starpu_ssize_t)starpu_data_get_size(h);
	if (!ptr)
		return 0;
	if (starpu_malloc(ptr, *size ? (size_t)*size : 1))
		return -ENOMEM;
	char *dense = *ptr;
	for (unsigned k = 0; k < h->kind->n_parts && !heddle_data_part(h->data, k, &part); k++)
		dense = copy_part(&part, dense, false);
	return 0;
}

int starpu_data_unpack(starpu_data_handle_t h, void *ptr, size_t size)
{
	struct heddle_part part;
	if (h->ops)
		return h->ops->unpack_data ? h->ops->unpack_data(h, STARPU_MAIN_RAM, ptr, size) : -ENOSYS;
	if (size != starpu_data_get_size(h))
		return -EINVAL;
	char *dense = ptr;
	for (unsigned k = 0; k < h->kind->n_parts && !heddle_data_part(h->data, k, &part); k++)
		dense = copy_part(&part, dense, true);
	starpu_free(ptr);
	return 0;
}
