/* What exists: handles that calls have returned, and ranges of memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "inside.h"

struct object {
	enum kind kind;
	void *handle;
	struct object *next;
};

#define N_BUCKETS 4096

pthread_rwlock_t registry = PTHREAD_RWLOCK_INITIALIZER;
static struct object *buckets[N_BUCKETS];
static unsigned n_objects[N_KINDS];
static struct range *ranges; /* by address */
static size_t n_ranges, max_ranges;

static struct object **bucket_of(const void *handle)
{
	return &buckets[((uintptr_t)handle >> 4) * 2654435761u % N_BUCKETS];
}

int born(enum kind kind, void *handle)
{
	struct object *o = malloc(sizeof *o);
	if (!o)
		return 0;
	pthread_rwlock_wrlock(&registry);
	*o = (struct object){.kind = kind, .handle = handle, .next = *bucket_of(handle)};
	*bucket_of(handle) = o;
	n_objects[kind]++;
	pthread_rwlock_unlock(&registry);
	return 1;
}

int dies(enum kind kind, void *handle)
{
	pthread_rwlock_wrlock(&registry);
	struct object **at = bucket_of(handle);
	while (*at && ((*at)->handle != handle || (*at)->kind != kind))
		at = &(*at)->next;
	struct object *o = *at;
	if (o) {
		*at = o->next;
		n_objects[kind]--;
	}
	pthread_rwlock_unlock(&registry);
	free(o);
	return o != NULL;
}

int lives(enum kind kind, void *handle)
{
	pthread_rwlock_rdlock(&registry);
	struct object *o = *bucket_of(handle);
	while (o && (o->handle != handle || o->kind != kind))
		o = o->next;
	pthread_rwlock_unlock(&registry);
	return o != NULL;
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

/* How many ranges begin at `address` or below it. The registry is held. */
static size_t count_up_to(uintptr_t address)
{
	size_t low = 0, high = n_ranges;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (ranges[middle].from <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert_range(struct range range)
{
	size_t at = count_up_to(range.from);
	if ((at > 0 && range.from - ranges[at - 1].from < ranges[at - 1].size) ||
	    (at < n_ranges && ranges[at].from - range.from < range.size))
		return 0;
	if (n_ranges == max_ranges) {
		size_t more = max_ranges ? 2 * max_ranges : 64;
		struct range *grown = realloc(ranges, more * sizeof *grown);
		if (!grown)
			return 0;
		ranges = grown;
		max_ranges = more;
	}
	memmove(&ranges[at + 1], &ranges[at], (n_ranges - at) * sizeof *ranges);
	ranges[at] = range;
	n_ranges++;
	return 1;
}

int add_range(struct range range)
{
	pthread_rwlock_wrlock(&registry);
	int added = insert_range(range);
	pthread_rwlock_unlock(&registry);
	return added;
}

int remove_range(uintptr_t from, enum place place, struct range *out)
{
	pthread_rwlock_wrlock(&registry);
	size_t at = count_up_to(from);
	int found = at > 0 && ranges[at - 1].from == from && ranges[at - 1].place == place;
	if (found) {
		*out = ranges[at - 1];
		memmove(&ranges[at - 1], &ranges[at], (n_ranges - at) * sizeof *ranges);
		n_ranges--;
	}
	pthread_rwlock_unlock(&registry);
	return found;
}

void forget_registered(void)
{
	pthread_rwlock_wrlock(&registry);
	size_t kept = 0;
	for (size_t i = 0; i < n_ranges; i++)
		if (ranges[i].place != REGISTERED_HOST)
			ranges[kept++] = ranges[i];
	n_ranges = kept;
	pthread_rwlock_unlock(&registry);
}

int find_range(uintptr_t address, struct range *out)
{
	pthread_rwlock_rdlock(&registry);
	size_t at = count_up_to(address);
	int found = at > 0 && address - ranges[at - 1].from < ranges[at - 1].size;
	if (found)
		*out = ranges[at - 1];
	pthread_rwlock_unlock(&registry);
	return found;
}

void set_access(CUmemoryPool pool, unsigned access)
{
	pthread_rwlock_wrlock(&registry);
	for (size_t i = 0; i < n_ranges; i++) {
		if (ranges[i].pool == pool)
			ranges[i].access = access;
	}
	pthread_rwlock_unlock(&registry);
}

/* --- Leaks -------------------------------------------------------------------------------------------------------- */

unsigned standin_leaks(FILE *out)
{
	/* functions go with their modules */
	static const char *const words[N_KINDS] = {
	    [STREAM] = "stream(s)", [EVENT] = "event(s)", [MODULE] = "module(s)", [POOL] = "memory pool(s)"};
	static const char *const places[] = {
	    [ON_DEVICE] = "of device memory", [ALLOCATED_HOST] = "of host memory", [REGISTERED_HOST] = "registered"};
	unsigned total = 0;
	pthread_rwlock_rdlock(&registry);
	for (int d = 0; d < MAX_DEVICES; d++) {
		total += devices[d].retained;
		if (devices[d].retained && out)
			fprintf(out, "the context of device %d, retained %u time(s)\n", d, devices[d].retained);
	}
	for (int k = 0; k < N_KINDS; k++) {
		total += words[k] ? n_objects[k] : 0;
		if (words[k] && n_objects[k] && out)
			fprintf(out, "%u %s\n", n_objects[k], words[k]);
	}
	for (size_t i = 0; i < n_ranges && out; i++)
		fprintf(out, "%zu bytes %s at %#zx\n", ranges[i].size, places[ranges[i].place], (size_t)ranges[i].from);
	total += (unsigned)n_ranges;
	pthread_rwlock_unlock(&registry);
	return total;
}
