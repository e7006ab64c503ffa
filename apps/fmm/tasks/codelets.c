/* The codelets: kernels in two precisions, and what models are told. */
#include <fmm/opencl/offer.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HD_TEMPLATE <fmm/tasks/codelets_template.h>
#include <fmm/kernels/precisions.h>

#define BOTH(x)                            \
	{                                  \
		hd_fmm_d_##x, hd_fmm_s_##x \
	}
static const struct {
	const char *name; /* behind the letter of the precision */
	heddle_kernel kernels[HD_FMM_PRECISIONS];
	unsigned color;
} codelets[HD_FMM_N_OPS] = {
    [HD_FMM_P2M] = {"fmm_p2m", BOTH(p2m), 0x8c6bb1},        [HD_FMM_M2M] = {"fmm_m2m", BOTH(m2m), 0x88419d},
    [HD_FMM_M2L] = {"fmm_m2l", BOTH(m2l), 0x2b8cbe},        [HD_FMM_L2L] = {"fmm_l2l", BOTH(l2l), 0x41ab5d},
    [HD_FMM_P2P] = {"fmm_p2p", BOTH(p2p), 0xe6550d},        [HD_FMM_L2P] = {"fmm_l2p", BOTH(l2p), 0x78c679},
    [HD_FMM_MUTUAL] = {"fmm_p2p2", BOTH(mutual), 0xe6550d},
};

/* --- Models ------------------------------------------------------------------------------------------------------- */

/* Tasks differ in their pairs and translations, not in the shapes of their data alone. */
static uint64_t footprint(const struct heddle_size *size)
{
	const struct hd_fmm_value *v = size->values[0];
	uint64_t bits[2];
	memcpy(bits, &v->told, sizeof bits);
	return bits[0] ^ bits[1] << 1;
}

static size_t regressors(const struct heddle_size *size, double *x, size_t max)
{
	const struct hd_fmm_value *v = size->values[0];
	size_t n = 0;
	if (n < max)
		x[n++] = v->told.us;
	if (n < max)
		x[n++] = 1;
	return n;
}

static double flops(const struct heddle_size *size)
{
	const struct hd_fmm_value *v = size->values[0];
	return hd_fmm_flops(v, v->told.us);
}

/* The time in us of work in virtual time, if the platform has no times of the task: the estimate for CPU workers. */
static double time_of_work(const struct hd_fmm_value *v, unsigned class_id, struct hd_fmm_work work)
{
	const struct heddle_platform *platform = heddle_runtime_platform(v->plan->fmm->rt);
	return strcmp(platform->classes[class_id].kind, "cpu") == 0 ? work.us : hd_fmm_time_on_gpu(v, class_id, work);
}

static double time_told(const struct heddle_size *size, unsigned class_id)
{
	const struct hd_fmm_value *v = size->values[0];
	return time_of_work(v, class_id, v->told);
}

static double true_time(const struct heddle_size *size, unsigned class_id)
{
	const struct hd_fmm_value *v = size->values[0];
	return time_of_work(v, class_id, v->work);
}

static int has_times(const struct heddle_platform *platform, const char *name)
{
	for (size_t i = 0; i < platform->n_kernels; i++)
		if (strcmp(platform->kernels[i].codelet, name) == 0)
			return 1;
	return platform->n_kernels == 0;
}

/* Whether the runtime has devices of this kind, and all of them compute in this precision. */
static int has_devices(const struct heddle_fmm *fmm, const char *kind, int precision)
{
	const struct heddle_platform *platform = heddle_runtime_platform(fmm->rt);
	int n = 0;
	for (size_t w = 0; w < platform->n_workers; w++) {
		if (strcmp(platform->classes[platform->workers[w].class_id].kind, kind) != 0)
			continue;
		if (strcmp(kind, "opencl") == 0 && precision == HEDDLE_FMM_DOUBLE &&
		    !heddle_opencl_has_double(platform->workers[w].device))
			return 0;
		n++;
	}
	return n > 0;
}

/* Platforms that have no times of the near field on CUDA devices have none but what is assumed. */
static int has_cuda(const struct heddle_fmm *fmm, int precision)
{
	const char *near = precision == HEDDLE_FMM_SINGLE ? "sfmm_p2p" : "dfmm_p2p";
	return hd_fmm_has_cuda() && has_times(heddle_runtime_platform(fmm->rt), near) &&
	       has_devices(fmm, "cuda", precision);
}

int hd_fmm_make_codelets(struct heddle_fmm *fmm)
{
	int opencl[HD_FMM_PRECISIONS], cuda[HD_FMM_PRECISIONS];
	for (int precision = 0; precision < HD_FMM_PRECISIONS; precision++) {
		opencl[precision] = has_devices(fmm, "opencl", precision);
		cuda[precision] = has_cuda(fmm, precision);
		fmm->for_devices[precision] = opencl[precision] || cuda[precision];
	}
	for (int i = 0; i < HD_FMM_PRECISIONS * HD_FMM_N_OPS; i++) {
		int precision = i / HD_FMM_N_OPS, op = i % HD_FMM_N_OPS;
		char name[40];
		snprintf(name, sizeof name, "%c%s", "ds"[precision], codelets[op].name);
		struct heddle_codelet_desc desc = {.name = name,
		                                   .cpu = codelets[op].kernels[precision],
		                                   .model = HEDDLE_MODEL_LINEAR,
		                                   .regressors = regressors,
		                                   .footprint = footprint,
		                                   .flops = flops,
		                                   .color = codelets[op].color};
		int on_devices = op == HD_FMM_P2P || op == HD_FMM_M2L;
		desc.opencl = on_devices && opencl[precision] ? hd_fmm_run_opencl : NULL;
		desc.cuda = on_devices && cuda[precision] ? hd_fmm_run_cuda : NULL;
		if (!has_times(heddle_runtime_platform(fmm->rt), name)) {
			desc.model = HEDDLE_MODEL_GIVEN;
			desc.time = time_told;
		}
		int status = heddle_codelet_create(fmm->rt, &desc, &fmm->codelets[precision][op]);
		if (!status && desc.time && fmm->assumed.by_size)
			status = heddle_codelet_set_true_time(fmm->codelets[precision][op], true_time);
		if (status < 0)
			return status;
	}
	return 0;
}
