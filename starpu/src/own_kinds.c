/* Kinds of data of the program: starpu_data_register. A datum is an object of Heddle, whose copies the kind's functions
 * make. */
#include "internal.h"

static size_t object_size(const void *object)
{
	struct starpu_data_state *h = ((const struct hd_object *)object)->handle;
	return h->ops->get_size ? h->ops->get_size(h) : 1;
}

/* A structure without memory of its own. NULL: no memory. */
static struct hd_object *object_like(struct starpu_data_state *h, const void *interface)
{
	struct hd_object *object = malloc(sizeof *object + h->ops->interface_size);
	if (object) {
		object->handle = h;
		memcpy(object->interface, interface, h->ops->interface_size);
	}
	return object;
}

static int allocate(const void *like, unsigned node, void **copy)
{
	const struct hd_object *model = like;
	const struct starpu_data_interface_ops *ops = model->handle->ops;
	struct hd_object *object = object_like(model->handle, model->interface);
	if (!object || (ops->allocate_data_on_node && ops->allocate_data_on_node(object->interface, node) < 0)) {
		free(object);
		return -1;
	}
	*copy = object;
	return 0;
}

static int copy(const void *from, unsigned from_node, void *to, unsigned to_node)
{
	struct hd_object *source = (struct hd_object *)(uintptr_t)from, *target = to;
	const struct starpu_data_copy_methods *methods = source->handle->ops->copy_methods;
	if (methods && methods->any_to_any)
		return methods->any_to_any(source->interface, from_node, target->interface, to_node, NULL);
	if (methods && methods->ram_to_ram)
		return methods->ram_to_ram(source->interface, from_node, target->interface, to_node);
	return -1;
}

static void release(void *object, unsigned node)
{
	struct hd_object *o = object;
	if (o->handle->ops->free_data_on_node)
		o->handle->ops->free_data_on_node(o->interface, node);
	free(o);
}

static const struct heddle_type type = {
    .name = "program's kind", .size = object_size, .allocate = allocate, .copy = copy, .release = release};

/* Lets the kind fill its structures, one for each node, and takes that of main memory. */
static int fill(struct starpu_data_state *h, int home_node, void *interface)
{
	size_t size = h->ops->interface_size;
	h->registering = calloc(STARPU_MAXNODES, size);
	if (!h->registering)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for a datum");
	for (unsigned node = 0; node < STARPU_MAXNODES; node++)
		memcpy(h->registering + node * size, interface, size);
	h->ops->register_data_handle(h, home_node, interface);
	h->object = object_like(h, h->registering);
	free(h->registering);
	h->registering = NULL;
	if (!h->object)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for a datum");
	h->has_buffer = home_node == STARPU_MAIN_RAM;
	if (!h->has_buffer && h->ops->allocate_data_on_node(h->object->interface, STARPU_MAIN_RAM) < 0)
		return heddle_error(HEDDLE_E_MEMORY, "the kind of the datum allocates no memory");
	return 0;
}

void starpu_data_register(starpu_data_handle_t *out, int home_node, void *interface,
                          struct starpu_data_interface_ops *ops)
{
	struct starpu_data_state *h = hd_handle_new(STARPU_MAX_INTERFACE_ID);
	*out = NULL;
	if (!h)
		return;
	h->ops = ops;
	h->interface.id = ops->interfaceid;
	int status = fill(h, home_node, interface);
	if (!status)
		status = heddle_object(hd_starpu_runtime, h->object, &type, &h->data);
	hd_handle_registered(__func__, h, status, out);
}

void hd_object_free(struct starpu_data_state *h)
{
	if (h->object && !h->has_buffer && h->ops->free_data_on_node)
		h->ops->free_data_on_node(h->object->interface, STARPU_MAIN_RAM);
	free(h->object);
	h->object = NULL;
}

int starpu_data_interface_get_next_id(void)
{
	static _Atomic int last = STARPU_MAX_INTERFACE_ID;
	return ++last;
}

int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst, size_t dst_offset,
                          unsigned dst_node, size_t size, void *async_data)
{
	(void)async_data;
	if (starpu_node_get_kind(src_node) != STARPU_CPU_RAM || starpu_node_get_kind(dst_node) != STARPU_CPU_RAM)
		return -ENOSYS;
	memcpy((char *)dst + dst_offset, (const char *)src + src_offset, size);
	return 0;
}
