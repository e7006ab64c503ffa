/* Puts the near field of a group of targets on the stream of a device: the sources of all groups nearby are
 * gathered in the workspace of the stream, one behind the other, and then one kernel sums for all targets. */
#include <fmm/opencl/device.h>
#include <stdint.h>

enum { WORK_GROUP = 64 };
enum { FIRST_SOURCE = 3 /* the first datum that is a group of sources */ };

static size_t slots_of(heddle_context *c, size_t datum)
{
	return heddle_extent(c, datum, 0);
}

static int gather(heddle_context *c, const struct hd_fmm_device *device, struct _cl_mem *out, size_t n_groups)
{
	uint32_t at = 0;
	int status = 0;
	for (size_t i = 0; i < n_groups && status == 0; i++) {
		uint32_t n = (uint32_t)slots_of(c, FIRST_SOURCE + i);
		const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(FIRST_SOURCE + i),
		                                                   heddle_opencl_value(n), heddle_opencl_memory(out),
		                                                   heddle_opencl_value(at)};
		const struct hd_fmm_launch launch = {"gather", {{n}, {WORK_GROUP}}, 4, arguments};
		status = device->launch(c, &launch);
		at += n;
	}
	return status;
}

/* The place of the group of targets among the gathered sources, where it is one of them. */
static uint64_t place_of_self(heddle_context *c, const struct hd_fmm_value *v)
{
	const struct hd_fmm_uses *uses = &v->plan->near_uses;
	size_t group = hd_fmm_target_groups(v->plan, v->level)->before + v->group;
	uint64_t at = 0;
	for (size_t i = uses->start[group]; i < uses->start[group + 1]; i++) {
		if (uses->groups[i] == group && !v->plan->has_targets)
			return at;
		at += slots_of(c, FIRST_SOURCE + i - uses->start[group]);
	}
	return UINT64_MAX / 2; /* no number of a slot makes it the number of a source */
}

static int sum(heddle_context *c, const struct hd_fmm_device *device, struct _cl_mem *gathered, size_t list)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	uint32_t n = (uint32_t)slots_of(c, 0);
	int32_t gradient = v->gradient != NULL, counting = v->plan->counting;
	uint64_t self = place_of_self(c, v);
	const struct heddle_opencl_argument arguments[] = {
	    heddle_opencl_datum(0),         heddle_opencl_datum(2),   heddle_opencl_datum(list),
	    heddle_opencl_memory(gathered), heddle_opencl_value(n),   heddle_opencl_value(gradient),
	    heddle_opencl_value(counting),  heddle_opencl_value(self)};
	const struct hd_fmm_launch launch = {"pairs", {{n}, {WORK_GROUP}}, 8, arguments};
	return device->launch(c, &launch);
}

int hd_fmm_p2p_on(heddle_context *c, const struct hd_fmm_device *device)
{
	size_t list = heddle_context_n_data(c) - 1, n_groups = list - FIRST_SOURCE, n = 0;
	for (size_t i = 0; i < n_groups; i++)
		n += slots_of(c, FIRST_SOURCE + i);
	struct _cl_mem *gathered = device->scratch(c, (4 * n + 4) * hd_fmm_real_size(hd_fmm_plan_of(c)));
	if (!gathered)
		return HEDDLE_E_MEMORY;
	int status = gather(c, device, gathered, n_groups);
	return status ? status : sum(c, device, gathered, list);
}
