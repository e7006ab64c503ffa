/* A datum that is no array: a linked list. It is packed into bytes to be copied to an accelerator, and unpacked
 * there. */
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>

struct node { /* the first node of a list has no value */
	struct node *next;
	int value;
};

static struct node *insert(struct node *after, int value)
{
	struct node *node = malloc(sizeof *node);
	if (node)
		*node = (struct node){after->next, value}, after->next = node;
	return node;
}

static size_t list_size(const void *list)
{
	size_t size = 0;
	for (const struct node *node = ((const struct node *)list)->next; node; node = node->next)
		size += sizeof node->value;
	return size;
}

static int list_pack(const void *list, void *buffer, size_t size)
{
	const struct node *node = list;
	for (size_t i = 0; i < size / sizeof(int); i++)
		((int *)buffer)[i] = (node = node->next)->value;
	return 0;
}

static void list_destroy(void *list)
{
	for (struct node *node = list, *next; node; node = next) {
		next = node->next;
		free(node);
	}
}

static int list_unpack(void **object, const void *buffer, size_t size)
{
	struct node *list = *object ? *object : calloc(1, sizeof *list), *last = list;
	if (!list)
		return -1;
	*object = list;
	list_destroy(list->next);
	list->next = NULL;
	for (size_t i = 0; last && i < size / sizeof(int); i++)
		last = insert(last, ((const int *)buffer)[i]);
	return last ? 0 : -1;
}

static int push_sum(heddle_context *c) /* RW list: its sum becomes its first element */
{
	struct node *list = heddle_ptr(c, 0);
	int sum = 0;
	for (const struct node *node = list->next; node; node = node->next)
		sum += node->value;
	return !insert(list, sum);
}

int main(void)
{
	static const struct heddle_type type = {
	    .name = "list", .size = list_size, .pack = list_pack, .unpack = list_unpack, .destroy = list_destroy};
	struct node list = {NULL, 0};
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_data *data;
	heddle_codelet *codelet;
	if (!insert(&list, 2) || !insert(&list, 1) || heddle_config_init(&config))
		return 1;
	config.n_emulated = 1; /* an accelerator with a memory of its own: the only place where the codelet runs */
	if (heddle_start(&config, &rt) || heddle_object(rt, &list, &type, &data) ||
	    !(codelet = heddle_codelet_new(rt, .name = "push_sum", .emulated = push_sum)) ||
	    heddle_submit(rt, heddle_call(codelet), heddle_rw(data)) || heddle_unregister(data) || heddle_stop(rt))
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	int wrong = list_size(&list) != 3 * sizeof(int) || list.next->value != 3;
	for (const struct node *node = list.next; node; node = node->next)
		printf("%d ", node->value);
	printf("\n");
	list_destroy(list.next);
	return wrong;
}
