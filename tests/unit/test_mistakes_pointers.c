/* Deliberate mistakes with handles: pointers that are none, or none any more, in checking mode. Nothing may be read
 * there. */
#include <sys/mman.h>
#include "mistakes.h"

/* A page that nobody may read: what was there before the memory was freed. */
static heddle_data *freed_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	assert_int_equal(munmap(page, 4096), 0);
	return page;
}

static int submit_freed_memory(heddle_runtime *rt)
{
	return heddle_submit(rt, heddle_call(codelet(rt, "wild", nothing)), heddle_rw(freed_memory()));
}

static int submit_a_local_variable(heddle_runtime *rt)
{
	double x[64] = {0};
	heddle_data *d = vector(rt, "x", x), *wild = (void *)&x[8];
	return heddle_submit(rt, heddle_call(codelet(rt, "wild", nothing)), heddle_r(d), heddle_rw(wild));
}

static int submit_null(heddle_runtime *rt)
{
	return heddle_submit(rt, heddle_call(codelet(rt, "wild", nothing)), heddle_rw(NULL));
}

/* Of the variable that has the handle, in place of the handle. */
static int acquire_an_address(heddle_runtime *rt)
{
	heddle_data *d = vector(rt, "x", NULL);
	return heddle_acquire((heddle_data *)(void *)&d, HEDDLE_R);
}

static int acquire_null(heddle_runtime *rt)
{
	(void)rt;
	return heddle_acquire(NULL, HEDDLE_R);
}

/* Long after its end: more handles have ended since than are kept, and so it is known no more, but nothing is read. */
static int acquire_long_after_unregister(heddle_runtime *rt)
{
	heddle_data *first = vector(rt, "x", NULL);
	assert_ok(heddle_unregister(first));
	heddle_data *all[5000];
	for (int i = 0; i < 5000; i++)
		assert_ok(heddle_vector(rt, NULL, 1, 1, &all[i]));
	for (int i = 0; i < 5000; i++)
		assert_ok(heddle_unregister(all[i]));
	return heddle_acquire(first, HEDDLE_R);
}

static int release_wild(heddle_runtime *rt)
{
	(void)rt;
	return heddle_release(freed_memory());
}

static int unregister_wild(heddle_runtime *rt)
{
	(void)rt;
	return heddle_unregister(freed_memory());
}

static int prefetch_wild(heddle_runtime *rt)
{
	(void)rt;
	return heddle_prefetch(freed_memory(), 0);
}

static int partition_wild(heddle_runtime *rt)
{
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	(void)rt;
	return heddle_partition(freed_memory(), &halves, NULL);
}

static int unpartition_wild(heddle_runtime *rt)
{
	(void)rt;
	return heddle_unpartition(freed_memory());
}

static int child_of_wild(heddle_runtime *rt)
{
	(void)rt;
	return heddle_child(freed_memory(), 0) ? 0 : HEDDLE_E_INVALID;
}

static int name_wild(heddle_runtime *rt)
{
	(void)rt;
	return heddle_data_set_name(freed_memory(), "x");
}

static int part_of_wild(heddle_runtime *rt)
{
	struct heddle_part part;
	(void)rt;
	return heddle_data_part(freed_memory(), 0, &part);
}

static int address_of_wild(heddle_runtime *rt)
{
	(void)rt;
	return heddle_data_ptr(freed_memory()) ? 0 : HEDDLE_E_INVALID;
}

static int reduction_of_wild(heddle_runtime *rt)
{
	heddle_codelet *c = codelet(rt, "add", nothing);
	return heddle_data_set_reduction(freed_memory(), c, c);
}

/* In the presence of a runtime without the mode, whose handles nobody has noted: they can be used, and are not
 * taken for something else. */
static int submit_beside_another_runtime(heddle_runtime *rt)
{
	struct heddle_config config = small_config();
	config.check = 0;
	heddle_runtime *other = start_with(&config);
	heddle_data *d = vector(other, "y", NULL);
	assert_ok(heddle_submit(other, heddle_call(codelet(other, "good", nothing)), heddle_w(d)));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_release(d));
	int status = heddle_submit(rt, heddle_call(codelet(rt, "wild", nothing)), heddle_rw(d));
	char *said = strdup(heddle_last_error());
	assert_ok(heddle_stop(other));
	heddle_error(status, "%s", said);
	free(said);
	return status;
}

static const struct mistake mistakes[] = {
    {"a task gets freed memory as its datum", submit_freed_memory, 0, HEDDLE_E_INVALID,
     "wild: datum 0: what is at address 0x"},
    {"a task gets a local variable as its datum", submit_a_local_variable, 0, HEDDLE_E_INVALID,
     "is no handle, or none any more: give what heddle_vector and the like have returned"},
    {"a task gets NULL as its datum", submit_null, 0, HEDDLE_E_INVALID, "wild: one of its data is NULL"},
    {"a task gets the datum of a runtime that is not watched", submit_beside_another_runtime, 0, HEDDLE_E_INVALID,
     "wild: y belongs to another runtime"},
    {"the address of a handle is acquired", acquire_an_address, 0, HEDDLE_E_INVALID,
     "heddle_acquire: what is at address 0x"},
    {"NULL is acquired", acquire_null, 0, HEDDLE_E_INVALID, "heddle_acquire needs a datum"},
    {"a datum is acquired long after heddle_unregister", acquire_long_after_unregister, 0, HEDDLE_E_INVALID,
     "is no handle, or none any more"},
    {"freed memory is released", release_wild, 0, HEDDLE_E_INVALID, "heddle_release: what is at address 0x"},
    {"freed memory is unregistered", unregister_wild, 0, HEDDLE_E_INVALID, "heddle_unregister: what is at address 0x"},
    {"freed memory is prefetched", prefetch_wild, 0, HEDDLE_E_INVALID, "heddle_prefetch: what is at address 0x"},
    {"freed memory is partitioned", partition_wild, 0, HEDDLE_E_INVALID, "heddle_partition: what is at address 0x"},
    {"freed memory is unpartitioned", unpartition_wild, 0, HEDDLE_E_INVALID,
     "heddle_unpartition: what is at address 0x"},
    {"freed memory is asked for a child", child_of_wild, 0, HEDDLE_E_INVALID, "heddle_child: what is at address 0x"},
    {"freed memory is named", name_wild, 0, HEDDLE_E_INVALID, "heddle_data_set_name: what is at address 0x"},
    {"freed memory is asked for a part", part_of_wild, 0, HEDDLE_E_INVALID, "heddle_data_part: what is at address 0x"},
    {"freed memory is asked for its address", address_of_wild, 0, HEDDLE_E_INVALID,
     "heddle_data_ptr: what is at address 0x"},
    {"freed memory gets a reduction", reduction_of_wild, 0, HEDDLE_E_INVALID,
     "heddle_data_set_reduction: what is at address 0x"},
};

int main(void)
{
	return run_mistakes("mistakes_pointers", mistakes, sizeof mistakes / sizeof *mistakes);
}
