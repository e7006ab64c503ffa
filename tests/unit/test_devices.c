/* Finding devices at the start: which of them become workers, with which names, classes, memories and cores, and what
 * is said when some are missing. The drivers of this program stand where the library would find its own. */
#include "program.h"
#include "scratch.h"
#include "driver/driver.h"
#include "start/devices.h"

/* What the machine has: two CUDA devices of one model and one of another, and what OpenCL finds of it. */
static const struct heddle_device gpus[] = {
    {.name = "NVIDIA H100 80GB HBM3", .type = "gpu", .address = "0000:17:00.0", .memory = 1000},
    {.name = "NVIDIA H100 80GB HBM3", .type = "gpu", .address = "0001:65:00.0", .memory = 1000},
    {.name = "Tesla(TM) K40m ", .type = "gpu", .memory = 0},
};
static const struct heddle_device others[] = {
    {.name = "NVIDIA H100 80GB HBM3", .type = "gpu", .platform = "NVIDIA CUDA", .address = "0001:65:00.0"},
    {.name = "cpu-haswell", .type = "cpu", .platform = "Portable Computing Language", .memory = 5000},
    {.name = "Arc", .type = "gpu", .platform = "Intel(R) OpenCL Graphics", .memory = 300},
};
static unsigned n_gpus, n_others;
static int cuda_status;    /* what counting them ends with */
static unsigned opened[8]; /* the numbers of the devices that were opened, in any order */
static atomic_uint n_opened;

static int count_gpus(unsigned *n)
{
	*n = n_gpus;
	return cuda_status ? heddle_error(cuda_status, "the moon is not full: wait a week") : 0;
}

static int describe_gpu(unsigned device, struct heddle_device *out)
{
	*out = gpus[device];
	return 0;
}

static int count_others(unsigned *n)
{
	*n = n_others;
	return 0;
}

static int describe_other(unsigned device, struct heddle_device *out)
{
	*out = others[device];
	return 0;
}

static struct heddle_driver cuda, opencl;

/* The devices of both drivers work as emulated accelerators do. */
static int open_device(const struct heddle_platform *platform, unsigned worker, void **device)
{
	opened[n_opened++] = platform->workers[worker].device;
	return hd_driver_emulated.open(platform, worker, device);
}

/* The first two CUDA devices reach each other, the third stands alone. */
static int copies_directly(void *device, unsigned from_node, unsigned to_node)
{
	(void)device;
	return from_node < 3 && to_node < 3;
}

const struct heddle_driver *hd_driver_find(const char *kind)
{
	const struct heddle_driver *all[] = {&cuda, &opencl, &hd_driver_emulated, &hd_driver_cpu};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i]->kind && strcmp(all[i]->kind, kind) == 0)
			return all[i];
	return NULL;
}

const char *hd_driver_names(void)
{
	return "any";
}

/* All devices, and a machine of six cores in two packages. */
static int describe_machine(void **state)
{
	(void)state;
	cuda = opencl = hd_driver_emulated;
	cuda.kind = "cuda";
	cuda.open = open_device;
	cuda.count = count_gpus;
	cuda.describe = describe_gpu;
	cuda.can_copy_directly = copies_directly;
	opencl.kind = "opencl";
	opencl.open = open_device;
	opencl.count = count_others;
	opencl.describe = describe_other;
	opencl.can_copy_directly = NULL;
	n_gpus = n_others = 3;
	n_opened = 0;
	cuda_status = 0;
	/* Two packages of three cores, a GPU on the PCI bus of each. The file has no comment: hwloc reads none where it
	 * does without libxml2, which is a package of its own. */
	setenv("HWLOC_XMLFILE", HEDDLE_SOURCE_DIR "/tests/machines/two_packages.xml", 1);
	return 0;
}

static struct heddle_config all_cores(void)
{
	struct heddle_config config = small_config();
	config.n_cpu = config.n_cuda = -1;
	return config;
}

static struct heddle_platform *configured(const struct heddle_config *config)
{
	struct heddle_platform *p;
	assert_ok(heddle_platform_configured(config, &p));
	assert_ok(heddle_platform_check(p));
	return p;
}

/* Checks the names of the workers from `first` on, written "a b c". */
static void assert_workers(const struct heddle_platform *p, size_t first, const char *names)
{
	char text[400] = "";
	for (size_t i = first; i < p->n_workers; i++) {
		strcat(text, i > first ? " " : "");
		strcat(text, p->workers[i].name);
	}
	assert_string_equal(text, names);
}

static void all_cuda_devices_are_found_and_described(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.cuda_streams = 3;
	config.n_emulated = 1;
	struct heddle_platform *p = configured(&config);
	assert_workers(p, 0, "cpu0 cpu1 cpu2 cuda0 cuda1 cuda2 emulated0");
	assert_int_equal(p->n_classes, 4);
	assert_string_equal(p->classes[1].name, "cuda-nvidia-h100-80gb-hbm3");
	assert_string_equal(p->classes[1].kind, "cuda");
	assert_int_equal(p->classes[1].streams, 3);
	assert_string_equal(p->classes[2].name, "cuda-tesla-tm-k40m");
	assert_string_equal(p->classes[3].name, "emulated");
	assert_int_equal(p->classes[3].streams, 1);
	assert_int_equal(p->workers[4].class_id, 1);
	assert_int_equal(p->workers[4].device, 1);
	assert_string_equal(p->nodes[p->workers[4].node].name, "cuda1");
	assert_int_equal(p->nodes[p->workers[4].node].capacity, 900);
	assert_int_equal(p->nodes[p->workers[5].node].capacity, 0);
	assert_true(heddle_platform_link(p, 0, p->workers[4].node)->bandwidth == HEDDLE_MEMORY_BANDWIDTH);
	assert_non_null(heddle_platform_link(p, p->workers[4].node, 0));
	assert_non_null(strstr(p->description, ": 6 cores, 2 x NVIDIA H100 80GB HBM3, Tesla(TM) K40m"));
	heddle_platform_free(p);
}

static int on_device(heddle_context *c)
{
	++*(long *)heddle_ptr(c, 0);
	return 0;
}

static void use_device(heddle_runtime *rt, unsigned worker)
{
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "on_device", .cuda = on_device, .opencl = on_device);
	heddle_data *d;
	long x = 41;
	assert_non_null(codelet);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_on(worker)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 42);
}

static void started_runtime_opens_the_devices_and_runs_on_them(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.n_cpu = 1;
	config.n_opencl = 1;
	config.opencl_devices = "PORTABLE";
	heddle_runtime *rt = start_with(&config);
	const struct heddle_platform *p = heddle_runtime_platform(rt);
	assert_workers(p, 0, "cpu0 cuda0 cuda1 cuda2 opencl1");
	for (unsigned w = 1; w < 5; w++)
		use_device(rt, w);
	assert_ok(heddle_stop(rt));
	assert_int_equal(n_opened, 4);
	unsigned sum = 0;
	for (unsigned i = 0; i < 4; i++)
		sum += 1u << (4 * opened[i]);
	assert_int_equal(sum, 0x121);
}

/* Devices of a kind are linked with each other if their driver may say so; what it refuses is not in the platform that
 * the runtime has measured. Data reach all of them either way. */
static void devices_of_a_kind_are_linked_as_far_as_their_driver_can(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.n_cpu = 1;
	config.n_opencl = 2;
	struct heddle_platform *p = configured(&config), *measured;
	assert_int_equal(p->n_links, 2 * 5 + 6);
	assert_non_null(heddle_platform_link(p, 3, 1));
	assert_null(heddle_platform_link(p, 3, 4));
	assert_null(heddle_platform_link(p, 4, 5));
	heddle_platform_free(p);
	config.model_dir = directory;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "on_device", .cuda = on_device, .opencl = on_device);
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (unsigned w = 1; w < 6; w++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_on(w)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 5);
	assert_ok(heddle_platform_measured(rt, "here", &measured));
	assert_int_equal(measured->n_links, 2 * 5 + 2);
	assert_true(heddle_platform_link(measured, 1, 2)->latency > 0);
	assert_null(heddle_platform_link(measured, 1, 3));
	assert_ok(heddle_platform_check(measured));
	heddle_platform_free(measured);
	assert_ok(heddle_stop(rt));
	assert_ok(heddle_platform_load(file("links.platform"), &p));
	assert_int_equal(p->n_links, 2 * 5 + 2);
	heddle_platform_free(p);
}

/* A platform that the program has, and may have changed, runs for real as well. */
static void platform_with_devices_starts_for_real(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.n_cpu = 0;
	config.n_cuda = 2;
	struct heddle_platform *p = configured(&config);
	heddle_runtime *rt;
	assert_ok(heddle_start_on(&config, p, 0, &rt));
	heddle_platform_free(p);
	use_device(rt, 1);
	assert_ok(heddle_stop(rt));
	assert_int_equal(opened[0] + opened[1], 1);
}

/* Files do not say which device a worker drives: they are numbered per kind, over all classes. */
static void workers_of_a_file_drive_the_devices_in_order(void **state)
{
	(void)state;
	static const char yaml[] =
	    "version: 1\nname: test\n"
	    "nodes: [{name: ram}, {name: a}, {name: b}, {name: c}]\n"
	    "classes: [{name: cpu, kind: cpu}, {name: x, kind: cuda}, {name: y, kind: cuda},\n"
	    "          {name: z, kind: opencl}]\n"
	    "workers: [{name: p, class: cpu, node: ram, count: 2}, {name: x, class: x, node: a},\n"
	    "          {name: z, class: z, node: b}, {name: y, class: y, node: c}]\n"
	    "links:\n"
	    "  - {from: ram, to: a, bandwidth_mbs: 1, latency_us: 1}\n"
	    "  - {from: a, to: ram, bandwidth_mbs: 1, latency_us: 1}\n"
	    "  - {from: ram, to: b, bandwidth_mbs: 1, latency_us: 1}\n"
	    "  - {from: b, to: ram, bandwidth_mbs: 1, latency_us: 1}\n"
	    "  - {from: ram, to: c, bandwidth_mbs: 1, latency_us: 1}\n"
	    "  - {from: c, to: ram, bandwidth_mbs: 1, latency_us: 1}\n";
	struct heddle_platform *p;
	assert_ok(heddle_platform_parse("test", yaml, sizeof yaml - 1, &p));
	static const unsigned expected[] = {0, 1, 0, 0, 1};
	for (size_t i = 0; i < p->n_workers; i++)
		assert_int_equal(p->workers[i].device, expected[i]);
	heddle_platform_free(p);
}

static void without_a_driver_there_are_no_devices_unless_asked_for(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	struct heddle_platform *p;
	cuda_status = HEDDLE_E_UNSUPPORTED;
	p = configured(&config);
	assert_workers(p, 0, "cpu0 cpu1 cpu2 cpu3 cpu4 cpu5");
	heddle_platform_free(p);
	config.n_cuda = 2;
	assert_int_equal(heddle_platform_configured(&config, &p), HEDDLE_E_UNSUPPORTED);
	assert_says("2 CUDA devices are asked for");
	assert_says("HEDDLE_CUDA");
	assert_says("wait a week");
	cuda.kind = NULL; /* built without */
	assert_int_equal(heddle_platform_configured(&config, &p), HEDDLE_E_UNSUPPORTED);
	assert_says("nvcc");
	config.n_cuda = -1;
	p = configured(&config);
	heddle_platform_free(p);
}

/* A driver that is there but broken is not passed over. */
static void broken_driver_stops_the_start(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	heddle_runtime *rt;
	cuda_status = HEDDLE_E_DEVICE;
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_DEVICE);
	assert_says("HEDDLE_CUDA");
	assert_says("0: do without");
	assert_says("wait a week");
}

static void more_devices_than_there_are_is_an_error_that_names_them(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	struct heddle_platform *p;
	config.n_cuda = 4;
	assert_int_equal(heddle_platform_configured(&config, &p), HEDDLE_E_INVALID);
	assert_says("4 CUDA devices are asked for");
	assert_says("cuda0 (NVIDIA H100 80GB HBM3), cuda1 (NVIDIA H100 80GB HBM3), cuda2 (Tesla");
	config.n_cuda = 0;
	config.n_opencl = 1;
	config.opencl_devices = "Mali";
	assert_int_equal(heddle_platform_configured(&config, &p), HEDDLE_E_INVALID);
	assert_says("1 OpenCL device is asked for");
	assert_says("none for \"Mali\"");
	assert_says("HEDDLE_OPENCL_DEVICES");
}

static void opencl_devices_are_selected(void **state)
{
	(void)state;
	static const struct {
		const char *which, *workers;
	} cases[] = {
	    {"all", "opencl0 opencl1 opencl2"},
	    {NULL, "opencl0 opencl1 opencl2"},
	    {"gpu", "opencl0 opencl2"},
	    {"CPU", "opencl1"},
	    {"intel", "opencl2"},
	    {"haswell", "opencl1"},
	    {"accelerator", ""},
	};
	struct heddle_config config = all_cores();
	config.n_cpu = config.n_cuda = 0;
	config.n_opencl = -1;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct heddle_platform *p;
		config.opencl_devices = cases[i].which;
		assert_ok(heddle_platform_configured(&config, &p));
		assert_workers(p, 0, cases[i].workers);
		heddle_platform_free(p);
	}
}

static void all_of_opencl_leaves_out_what_cuda_has(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.n_cpu = 0;
	config.n_opencl = -1;
	struct heddle_platform *p = configured(&config);
	assert_workers(p, 0, "cuda0 cuda1 cuda2 opencl1 opencl2");
	heddle_platform_free(p);
}

static void memory_may_be_limited_but_not_invented(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.cuda_memory = 700;
	struct heddle_platform *p = configured(&config);
	assert_int_equal(p->nodes[1].capacity, 700);
	assert_int_equal(p->nodes[3].capacity, 700);
	heddle_platform_free(p);
	config.cuda_memory = 1001;
	assert_int_equal(heddle_platform_configured(&config, &p), HEDDLE_E_INVALID);
	assert_says("cuda_memory is 1001");
	assert_says("cuda0");
}

static void each_device_takes_a_core_near_it(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.n_cuda = 2;
	struct heddle_platform *p = configured(&config);
	assert_workers(p, 0, "cpu0 cpu1 cpu2 cpu3 cuda0 cuda1");
	static const int expected[] = {0, 1, 3, 4, 2, 5};
	for (size_t i = 0; i < p->n_workers; i++)
		assert_int_equal(p->workers[i].core, expected[i]);
	heddle_platform_free(p);
}

/* Six devices and six cores: one core is left for a CPU worker, and one device has none. */
static void last_core_stays_a_worker(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.n_opencl = 3;
	struct heddle_platform *p = configured(&config);
	assert_workers(p, 0, "cpu0 cuda0 cuda1 cuda2 opencl0 opencl1 opencl2");
	assert_int_equal(p->workers[0].core, 0);
	assert_int_equal(p->workers[5].core, -1); /* a CPU, whose library has threads of its own */
	assert_int_equal(p->workers[6].core, -1);
	heddle_platform_free(p);
}

static void with_so_many_workers_devices_get_the_cores_that_are_free(void **state)
{
	(void)state;
	struct heddle_config config = all_cores();
	config.n_cpu = 3;
	config.n_cuda = 2;
	struct heddle_platform *p = configured(&config);
	assert_workers(p, 0, "cpu0 cpu1 cpu2 cuda0 cuda1");
	assert_int_equal(p->workers[2].core, 2);
	assert_int_equal(p->workers[3].core, -1); /* nothing is free near it */
	assert_int_equal(p->workers[4].core, 5);
	heddle_platform_free(p);
	config.n_cpu = 7;
	assert_int_equal(heddle_platform_configured(&config, &p), HEDDLE_E_INVALID);
	assert_says("6 cores");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(all_cuda_devices_are_found_and_described, describe_machine),
	    cmocka_unit_test_setup(started_runtime_opens_the_devices_and_runs_on_them, describe_machine),
	    cmocka_unit_test_setup(devices_of_a_kind_are_linked_as_far_as_their_driver_can, describe_machine),
	    cmocka_unit_test_setup(platform_with_devices_starts_for_real, describe_machine),
	    cmocka_unit_test_setup(workers_of_a_file_drive_the_devices_in_order, describe_machine),
	    cmocka_unit_test_setup(without_a_driver_there_are_no_devices_unless_asked_for, describe_machine),
	    cmocka_unit_test_setup(broken_driver_stops_the_start, describe_machine),
	    cmocka_unit_test_setup(more_devices_than_there_are_is_an_error_that_names_them, describe_machine),
	    cmocka_unit_test_setup(opencl_devices_are_selected, describe_machine),
	    cmocka_unit_test_setup(all_of_opencl_leaves_out_what_cuda_has, describe_machine),
	    cmocka_unit_test_setup(memory_may_be_limited_but_not_invented, describe_machine),
	    cmocka_unit_test_setup(each_device_takes_a_core_near_it, describe_machine),
	    cmocka_unit_test_setup(last_core_stays_a_worker, describe_machine),
	    cmocka_unit_test_setup(with_so_many_workers_devices_get_the_cores_that_are_free, describe_machine),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
