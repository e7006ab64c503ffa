/* Platform files: read, refused, written back, found. */
#include "platform_fixture.h"
#include "base/base.h"

#ifndef HEDDLE_SOURCE_DIR
#define HEDDLE_SOURCE_DIR "."
#endif

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static void parse_tiny_gives_every_field(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(TINY);
	assert_string_equal(p->name, "tiny");
	assert_string_equal(p->description, "");
	assert_int_equal(p->nodes[0].capacity, 0);
	assert_int_equal(p->nodes[1].capacity, 64 << 20);
	assert_string_equal(p->classes[1].kind, "cuda");
	assert_int_equal(p->classes[0].pipeline, 1);
	assert_int_equal(p->classes[1].pipeline, 2);
	assert_int_equal(p->n_workers, 4);
	assert_string_equal(p->workers[2].name, "cpu2");
	assert_int_equal(p->workers[2].core, 6);
	assert_string_equal(p->workers[3].name, "gpu");
	assert_int_equal(p->workers[3].class_id, 1);
	assert_int_equal(p->workers[3].node, 1);
	assert_int_equal(p->workers[3].core, -1);
	const struct heddle_link *link = heddle_platform_link(p, 0, 1);
	assert_non_null(link);
	assert_true(link->bandwidth == 6000.5 && link->latency == 10);
	assert_int_equal(link->n_buses, 1);
	assert_true(heddle_platform_link(p, 1, 0)->latency == 0);
	assert_null(heddle_platform_link(p, 1, 1));
	heddle_platform_free(p);
}

#define STREAMS(keys) "classes:\n- {name: cpu, kind: cpu}\n- {name: fast, kind: cuda, " keys "}\n"

static void parse_streams_gives_rates_of_kernels(void **state)
{
	struct heddle_platform *p = parsed(HEAD NODES STREAMS("streams: 3, sharing: [1, .6, .3]") WORKERS BUSES LINKS);
	assert_int_equal(p->classes[0].streams, 1);
	assert_null(p->classes[0].sharing);
	assert_int_equal(p->classes[1].streams, 3);
	assert_true(heddle_class_rate(&p->classes[1], 1) == 1);
	assert_true(heddle_class_rate(&p->classes[1], 3) == .3);
	assert_round_trip(p, file_in(*state, "sharing.yaml"));
	heddle_platform_free(p);
	p = parsed(HEAD NODES STREAMS("streams: 4, pipeline: 8") WORKERS BUSES LINKS);
	assert_int_equal(p->classes[1].pipeline, 8);
	assert_true(heddle_class_rate(&p->classes[0], 1) == 1);
	assert_true(heddle_class_rate(&p->classes[1], 4) == .25);
	struct heddle_platform *copy = NULL;
	assert_int_equal(heddle_platform_copy(p, &copy), 0);
	assert_same(p, copy);
	assert_round_trip(p, file_in(*state, "default.yaml"));
	heddle_platform_free(p);
	heddle_platform_free(copy);
}

#define FACTORS(codelet, cores) \
	"speedups:\n- codelet: " codelet "\n  class: cpu\n  " cores "\n  factors:\n  - {bytes: 100, factor: 1.5}\n"

/* What is wrong with a file, and what the message must contain. */
static const struct {
	const char *yaml, *message[3];
} bad_files[] = {
    {"", {"test.yaml", "empty"}},
    {"just text", {"test.yaml", "pairs should be here", "a plain value"}},
    {"version: 1\nname: [", {"line 2, name", "a plain value should be here", "a list"}},
    {HEAD NODES CLASSES "workers:\n- {name: cpu, class: cp", {"line 10", "workers[0].class", "cut off"}},
    {HEAD NODES CLASSES, {"test.yaml", "workers"}},
    {"name: x\n" NODES CLASSES WORKERS, {"version"}},
    {"version: 2\nname: x\n" NODES CLASSES WORKERS LINKS, {"version is \"2\"", "reads version 1"}},
    {HEAD HEAD, {"line 3", "\"version\" is there twice"}},
    {HEAD "colour: red\n", {"line 3", "unknown key \"colour\"", "the keys here are version, name"}},
    {HEAD "nodes:\n- {name: ram, size: 3}\n", {"line 4", "nodes[0]", "capacity_mib"}},
    {HEAD NODES CLASSES WORKERS BUSES "links:\n- {from: ram, to: gpu}\n", {"links[0]", "\"bandwidth_mbs\" is missing"}},
    {HEAD "nodes: {name: ram}\n", {"line 3", "nodes", "a list should be here"}},
    {HEAD "nodes: []\n" CLASSES WORKERS, {"workers[0].node", "there is no node \"ram\"", "describes none"}},
    {HEAD NODES CLASSES "workers: []\n" BUSES LINKS, {"no worker", "at least one"}},
    {HEAD NODES CLASSES "workers:\n- {name: a, class: gnu, node: ram}\n" LINKS,
     {"line 10, workers[0].class", "\"gnu\"", "cpu, fast"}},
    {HEAD NODES CLASSES "workers:\n- {name: a, class: cpu, node: rom}\n" LINKS,
     {"workers[0].node", "\"rom\"", "ram, gpu"}},
    {HEAD NODES CLASSES "workers:\n- {name: a, class: cpu, node: ram, count: 0}\n" LINKS,
     {"workers[0].count", "from 1"}},
    {HEAD NODES CLASSES "workers:\n- {name: a, class: cpu, node: ram, count: 1e9}\n" LINKS, {"count", "to 65536"}},
    {HEAD NODES CLASSES "workers:\n- {name: a, class: cpu, node: ram, core: 1.5}\n" LINKS,
     {"workers[0].core", "whole"}},
    {HEAD NODES CLASSES "workers:\n- {name: a, class: cpu, node: ram, first: 3}\n" LINKS,
     {"workers[0].first", "count"}},
    {HEAD NODES CLASSES WORKERS WORKERS, {"\"workers\" is there twice"}},
    {HEAD NODES CLASSES WORKERS "- {name: cpu1, class: cpu, node: ram}\n" BUSES LINKS, {"two workers", "\"cpu1\""}},
    {HEAD NODES "- {name: ram}\n" CLASSES WORKERS BUSES LINKS, {"two nodes", "\"ram\""}},
    {HEAD NODES CLASSES "- {name: cpu, kind: cpu}\n" WORKERS BUSES LINKS, {"two classes", "\"cpu\""}},
    {HEAD NODES CLASSES WORKERS BUSES "- {name: host, bandwidth_mbs: 1}\n" LINKS, {"two buses", "\"host\""}},
    {HEAD "nodes:\n- {name: ''}\n" CLASSES "workers:\n- {name: a, class: cpu, node: ''}\n", {"node 0 has no name"}},
    {HEAD "nodes:\n- {name: ram, capacity_mib: -1}\n" CLASSES WORKERS,
     {"nodes[0].capacity_mib", "0 (no limit) or at least"}},
    {HEAD "nodes:\n- {name: ram, capacity_mib: 1e-9}\n" CLASSES WORKERS,
     {"line 4, nodes[0].capacity_mib", "1e-9", "0 (no limit) or at least"}},
    {"# a comment\n\n- name: ram\n", {"line 3: \"key: value\" pairs should be here, and there is a list"}},
    {HEAD "nodes:\n- {name: ram, capacity_mib: 1, capacity_bytes: 1}\n" CLASSES WORKERS, {"nodes[0]", "keep one"}},
    {HEAD "nodes:\n- {name: ram, capacity_bytes: 12 MiB}\n" CLASSES WORKERS, {"nodes[0].capacity_bytes", "12 MiB"}},
    {HEAD NODES "classes:\n- {name: cpu, kind: cpu, pipeline: 0}\n- {name: fast, kind: cuda}\n" WORKERS BUSES LINKS,
     {"class cpu", "pipeline"}},
    {HEAD NODES "classes:\n- {name: cpu, kind: cpu, slowdown: .5}\n- {name: fast, kind: cuda}\n" WORKERS BUSES LINKS,
     {"class cpu", "slowdown"}},
    {HEAD NODES STREAMS("streams: 0") WORKERS BUSES LINKS, {"classes[1].streams", "from 1"}},
    {HEAD NODES STREAMS("streams: 1e9") WORKERS BUSES LINKS, {"classes[1].streams", "to 1024"}},
    {HEAD NODES STREAMS("sharing: [1, .5]") WORKERS BUSES LINKS,
     {"classes[1].sharing", "2 numbers", "one number per stream"}},
    {HEAD NODES STREAMS("streams: 3, sharing: [1, .5]") WORKERS BUSES LINKS, {"classes[1].sharing", "streams is 3"}},
    {HEAD NODES STREAMS("streams: 2, sharing: [1, half]") WORKERS BUSES LINKS, {"classes[1].sharing[1]", "\"half\""}},
    {HEAD NODES STREAMS("streams: 2, sharing: [.9, .5]") WORKERS BUSES LINKS, {"sharing[0] is 0.9", "alone"}},
    {HEAD NODES STREAMS("streams: 2, sharing: [1, 1.1]") WORKERS BUSES LINKS, {"sharing[1] is 1.1", "not above the 1"}},
    {HEAD NODES STREAMS("streams: 3, sharing: [1, .5, .6]") WORKERS BUSES LINKS, {"sharing[2] is 0.6", "the 0.5"}},
    {HEAD NODES STREAMS("streams: 2, sharing: [1, 0]") WORKERS BUSES LINKS, {"sharing[1] is 0", "above 0"}},
    {HEAD NODES CLASSES WORKERS "buses:\n- {name: host, bandwidth_mbs: 0}\n" LINKS, {"bus host", "above 0"}},
    {HEAD NODES CLASSES WORKERS LINKS, {"links[0].buses", "there is no bus \"host\"", "describes none"}},
    {HEAD NODES CLASSES WORKERS BUSES "links:\n" DOWN, {"no link gpu -> ram"}},
    {HEAD NODES CLASSES WORKERS BUSES, {"no link ram -> gpu"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS DOWN, {"two links ram -> gpu"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "- {from: ram, to: ram, bandwidth_mbs: 1}\n", {"link 2", "itself"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "- {from: ram, to: moon, bandwidth_mbs: 1}\n",
     {"links[2].to", "there is no node \"moon\"", "ram, gpu"}},
    {HEAD NODES CLASSES WORKERS BUSES "links:\n" DOWN "- {from: gpu, to: ram, bandwidth_mbs: -3}\n",
     {"link gpu -> ram", "bandwidth is -3", "above 0"}},
    {HEAD NODES CLASSES WORKERS BUSES "links:\n" DOWN "- {from: gpu, to: ram, bandwidth_mbs: 6 GB/s}\n",
     {"links[1].bandwidth_mbs", "\"6 GB/s\"", "without a unit"}},
    {HEAD NODES CLASSES WORKERS BUSES "links:\n" DOWN "- {from: gpu, to: ram, bandwidth_mbs: nan}\n", {"\"nan\""}},
    {HEAD NODES CLASSES WORKERS BUSES "links:\n" DOWN "- {from: gpu, to: ram, bandwidth_mbs: 1, latency_us: -1}\n",
     {"latency is -1"}},
    {HEAD NODES CLASSES WORKERS BUSES "links:\n" UP "- {from: ram, to: gpu, bandwidth_mbs: 1, buses: [host, host]}\n",
     {"ram -> gpu", "bus host twice"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE TABLE, {"gemm on cpu", "given twice"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n- {codelet: f, class: cpu}\n",
     {"f on cpu", "gflops, a bandwidth, or a table"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n- {codelet: f, class: cpu, bandwidth_mbs: -2}\n",
     {"f on cpu", "-2 MB/s", "above 0"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n- {codelet: f, class: cpu, bandwidth_mbs: 5 GB/s}\n",
     {"kernels[0].bandwidth_mbs", "without a unit"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n- {codelet: f, class: cpu, bandwidth_mbs: 2, half_flops: 9}\n",
     {"f on cpu", "half_flops without gflops"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  bandwidth_mbs: 3\n", {"both a table and a rate"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n- {codelet: f, class: cpu, gflops: -1}\n",
     {"f on cpu", "gflops"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n- {codelet: f, class: cpu, gflops: 1, latency_us: -1}\n",
     {"latency"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n- {codelet: f, class: tpu, gflops: 1}\n",
     {"kernels[0].class", "tpu"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  gflops: 3\n", {"both a table and a rate"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  - {bytes: 400, us: 9}\n", {"table[2]", "ascend"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  - {bytes: -500, us: 9}\n", {"table[2]", "0 or more"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  - {bytes: 500, us: -9}\n", {"table[2]", "above 0"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  - {bytes: 500, us: 0}\n", {"table[2]", "above 0"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  - {bytes: 500, us: 1e308}\n",
     {"table[2]", "below 1e+15"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n- {codelet: f, class: cpu, gflops: 1, latency_us: 1e308}\n",
     {"kernel f on cpu", "below 1e+15"}},
    {HEAD NODES CLASSES WORKERS BUSES "links:\n" DOWN "- {from: gpu, to: ram, bandwidth_mbs: 1, latency_us: 1e308}\n",
     {"gpu -> ram", "below 1e+15"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  - {bytes: big, us: 9}\n",
     {"kernels[0].table[2].bytes"}},
    {HEAD NODES CLASSES WORKERS BUSES LINKS "kernels:\n" TABLE "  - [1, 2]\n", {"kernels[0].table[2]", "line"}},
    {TINY "levels:\n- {name: socket}\n", {"levels[0]", "\"cores\" is missing"}},
    {TINY "levels:\n- {name: socket, cores: [0-x]}\n", {"levels[0].cores", "0-11"}},
    {TINY "levels:\n- {name: socket, cores: [3-1]}\n", {"level socket", "3 to 1"}},
    {TINY "levels:\n- {name: socket, cores: [0-3, 3-5]}\n", {"level socket", "cores[1]", "ascend"}},
    {TINY "levels:\n- {name: a, cores: [0-3]}\n- {name: a, cores: [0-3]}\n", {"two levels", "\"a\""}},
    {TINY "levels:\n- {name: a, cores: []}\n", {"level a has no cores"}},
    {TINY "speedups:\n- class: cpu\n", {"speedup 0", "bandwidth above 0"}},
    {TINY "speedups:\n- class: fast\n  bandwidth_mbs: 1\n", {"speedup 0", "fast", "kind cpu"}},
    {TINY "speedups:\n- class: cpu\n  bandwidth_mbs: 1\n- class: cpu\n  bandwidth_mbs: 1\n",
     {"all codelets on cpu", "given twice"}},
    {TINY FACTORS("gemm", "cores: 4") "  bandwidth_mbs: 1\n", {"gemm on cpu", "no law"}},
    {TINY FACTORS("gemm", "cores: 1"), {"gemm on cpu", "1 cores", "2 or more"}},
    {TINY FACTORS("gemm", "cores: 4") "  - {bytes: 100, factor: 2}\n", {"factors[1]", "ascend"}},
    {TINY FACTORS("gemm", "cores: 4") "  - {bytes: 200, factor: 5}\n", {"factors[1]", "factor 5", "at most"}},
    {TINY FACTORS("gemm", "cores: 4") "  - {bytes: 200, factor: much}\n", {"speedups[0].factors[1].factor"}},
    {TINY "- {codelet: f, class: cpu, gflops: 1}\n" FACTORS("f", "cores: 4"), {"f on cpu", "given by rates"}},
    {HEAD NODES CLASSES WORKERS "- {name: b, class: cpu, node: ram, retired: 2}\n" BUSES LINKS,
     {"worker b", "retired is 2"}},
    {HEAD NODES CLASSES WORKERS "- {name: b, class: fast, node: gpu, retired: 1}\n" BUSES LINKS,
     {"worker b", "only workers of kind cpu"}},
    {HEAD NODES CLASSES "workers:\n- {name: b, class: cpu, node: ram, retired: 1}\n" BUSES LINKS,
     {"all workers are retired"}},
    {HEAD NODES CLASSES "- {name: pair, kind: cpu, cores: 2}\n" WORKERS
                        "- {name: b, class: pair, node: ram, core: 6}\n" BUSES LINKS,
     {"b and cpu2", "both drive core 6"}},
    {HEAD NODES CLASSES "- {name: pair, kind: cpu, cores: 2}\n" WORKERS
                        "- {name: b, class: pair, node: ram, core: 3}\n" BUSES LINKS,
     {"b and cpu0", "both drive core 4"}},
    {"version: 1\nname: &a x\nsource: *a\n" NODES CLASSES WORKERS, {"line 3, source", "alias"}},
    {TINY "---\nkernels: []\n", {"test.yaml: line ", "a second document begins"}},
    {TINY "...\nkernels: []\n", {"test.yaml: line ", "what stands before is complete"}},
    {"  version: 1\n  name: x\n  nodes: [{name: ram}]\n  classes: [{name: cpu, kind: cpu}]\n"
     "  workers: [{name: a, class: cpu, node: ram}]\nkernels: []\n",
     {"test.yaml: line 6", "indent all keys"}},
    {"{version: 1, name: x, nodes: [{name: ram}], classes: [{name: cpu, kind: cpu}],\n"
     "workers: [{name: a, class: cpu, node: ram}]}\n}",
     {"test.yaml: line 3", "what stands before is complete"}},
    {"version: 1\nname: \"x\\0y\"\n" NODES CLASSES WORKERS BUSES LINKS, {"line 2", "the character \\0"}},
    {HEAD NODES CLASSES "workers:\n- {name: cpu, count: \"2\\0z\", class: cpu, node: ram}\n" BUSES LINKS,
     {"line 10, workers[0]", "the character \\0"}},
    {HEAD "\"nodes\\0z\":\n- {name: ram}\n", {"line 3", "the character \\0"}},
};

static void parse_bad_file_says_what_and_where(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
		struct heddle_platform *p = NULL;
		int status = heddle_platform_parse("test.yaml", bad_files[i].yaml, strlen(bad_files[i].yaml), &p);
		if (status != HEDDLE_E_FORMAT)
			fail_msg("%s for:\n%s", heddle_status_name(status), bad_files[i].yaml);
		assert_null(p);
		const char *message = heddle_last_error();
		if (strncmp(message, "test.yaml: ", 11) != 0)
			fail_msg("the file is not named first: %s", message);
		for (size_t j = 0; j < 3 && bad_files[i].message[j]; j++)
			if (!strstr(message, bad_files[i].message[j]))
				fail_msg("\"%s\" is not in: %s\nfor:\n%s", bad_files[i].message[j], message,
				         bad_files[i].yaml);
	}
}

static void parse_any_prefix_is_refused_or_valid(void **state)
{
	(void)state;
	for (size_t length = 0; length < strlen(TINY); length++) {
		struct heddle_platform *p = NULL;
		int status = heddle_platform_parse("test.yaml", TINY, length, &p);
		if (status == 0)
			assert_int_equal(heddle_platform_check(p), 0);
		else
			assert_int_equal(status, HEDDLE_E_FORMAT);
		heddle_platform_free(p);
	}
}

static void parse_sample_of_the_manual_is_accepted(void **state)
{
	(void)state;
	char *text = NULL;
	size_t length = 0;
	assert_int_equal(hd_file_read(HEDDLE_SOURCE_DIR "/docs/platforms.md", &text, &length), 0);
	char *begin = strstr(text, "```yaml\n");
	assert_non_null(begin);
	begin += strlen("```yaml\n");
	char *end = strstr(begin, "```");
	assert_non_null(end);
	*end = '\0';
	struct heddle_platform *p = parsed(begin);
	assert_int_equal(p->n_workers, 3);
	assert_int_equal(p->n_kernels, 2);
	heddle_platform_free(p);
	free(text);
}

static void parse_null_argument_is_invalid(void **state)
{
	(void)state;
	struct heddle_platform *p = NULL;
	assert_int_equal(heddle_platform_parse(NULL, "", 0, &p), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_parse("x", NULL, 0, &p), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_load(NULL, &p), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_check(NULL), HEDDLE_E_INVALID);
	heddle_platform_free(NULL);
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static void save_shipped_round_trips(void **state)
{
	for (size_t i = 0; i < N_SHIPPED; i++) {
		struct heddle_platform *p = loaded(shipped[i]), *copy = NULL;
		assert_string_equal(p->name, shipped[i]);
		assert_true(strlen(p->source) > 20);
		assert_round_trip(p, file_in(*state, "saved.yaml"));
		assert_int_equal(heddle_platform_copy(p, &copy), 0);
		assert_same(p, copy);
		heddle_platform_free(p); /* the copy shares nothing */
		assert_round_trip(copy, file_in(*state, "copy.yaml"));
		heddle_platform_free(copy);
	}
}

static void save_awkward_values_round_trips(void **state)
{
	static const char names[] =
	    "workers:\n"
	    "- {name: cpu, count: 12, class: cpu, node: ram}\n- {name: cpu07, class: cpu, node: ram}\n"
	    "- {name: cpu08, class: cpu, node: ram}\n"
	    "- {name: '7', class: cpu, node: ram}\n- {name: '8', class: cpu, node: ram}\n"
	    "- {name: cpu99999999999999999999, class: cpu, node: ram}\n- {name: 'a: [b', class: fast, node: gpu}\n"
	    "- {name: w, count: 2, first: 8, class: cpu, node: ram, core: 3}\n- {name: w10, class: cpu, node: ram, "
	    "core: 7}\n";
	char yaml[2048];
	snprintf(yaml, sizeof yaml, "%s%s%s%s%s%s", HEAD NODES CLASSES, names, BUSES LINKS, KERNELS,
	         "description: \"two\\nlines: # and \\u00e9\\t\\\"quotes\\\" \"\n", "source: '~'\n");
	struct heddle_platform *p = parsed(yaml);
	p->nodes[0].capacity = UINT64_MAX;
	p->nodes[1].capacity = 1;
	p->links[0].bandwidth = 0.1 + 0.2;
	p->links[0].latency = 1e-300;
	p->buses[0].bandwidth = 1.7976931348623157e308;
	p->kernels[0].table[0].us = 1.0 / 3;
	assert_round_trip(p, file_in(*state, "awkward.yaml"));
	heddle_platform_free(p);
}

static void save_wrong_platform_is_refused(void **state)
{
	struct heddle_platform *p = parsed(TINY);
	const char *path = file_in(*state, "wrong.yaml");
	p->links[0].bandwidth = NAN;
	assert_int_equal(heddle_platform_save(p, path), HEDDLE_E_FORMAT);
	assert_non_null(strstr(heddle_last_error(), "wrong.yaml"));
	assert_int_equal(access(path, F_OK), -1);
	p->links[0].bandwidth = 1;
	p->workers[0].class_id = 7;
	assert_int_equal(heddle_platform_save(p, path), HEDDLE_E_FORMAT);
	p->workers[0].class_id = 0;
	heddle_platform_free(p);
}

static void check_text_that_is_not_utf8_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int status;
	} names[] = {
	    {"ram", 0},
	    {"m\xc3\xa9m", 0},
	    {"\xe2\x82\xac", 0},
	    {"\xf0\x9f\x90\x91", 0},
	    {"\xff", HEDDLE_E_FORMAT},
	    {"a\xc3", HEDDLE_E_FORMAT},
	    {"\xc0\xaf", HEDDLE_E_FORMAT},
	    {"\xa9", HEDDLE_E_FORMAT},
	    {"\xed\xa0\x80", HEDDLE_E_FORMAT},
	    {"\xf4\x90\x80\x80", HEDDLE_E_FORMAT},
	    {"\xe2\x82", HEDDLE_E_FORMAT},
	};
	struct heddle_platform *p = parsed(TINY);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		free(p->nodes[0].name);
		p->nodes[0].name = strdup(names[i].name);
		assert_int_equal(heddle_platform_check(p), names[i].status);
		if (names[i].status)
			assert_non_null(strstr(heddle_last_error(), "UTF-8"));
	}
	heddle_platform_free(p);
}

/* --- Finding ------------------------------------------------------------------------------------------------------ */

static void load_missing_file_is_io_error(void **state)
{
	struct heddle_platform *p = NULL;
	const char *path = file_in(*state, "absent.yaml");
	assert_int_equal(heddle_platform_load(path, &p), HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), path));
	assert_null(p);
}

static void load_unknown_name_lists_known_ones(void **state)
{
	(void)state;
	struct heddle_platform *p = NULL;
	assert_int_equal(heddle_platform_load("cray-1", &p), HEDDLE_E_UNKNOWN);
	assert_non_null(strstr(heddle_last_error(), "cray-1"));
	for (size_t i = 0; i < N_SHIPPED; i++)
		assert_non_null(strstr(heddle_last_error(), shipped[i]));
}

static void load_name_takes_first_directory(void **state)
{
	char two[300];
	write_text(file_in(*state, "haswell-k40m.yaml"), TINY);
	snprintf(two, sizeof two, "/nowhere::%s", (char *)*state);
	setenv("HEDDLE_PLATFORM_PATH", two, 1);
	struct heddle_platform *p = loaded("haswell-k40m");
	assert_string_equal(p->name, "tiny");
	heddle_platform_free(p);
}

static void load_name_looks_in_user_data(void **state)
{
	struct heddle_platform *p = parsed(TINY), *found = NULL;
	assert_int_equal(hd_parents_make(file_in(*state, "heddle/platforms/mine.yaml")), 0);
	assert_int_equal(heddle_platform_save(p, file_in(*state, "heddle/platforms/mine.yaml")), 0);
	setenv("XDG_DATA_HOME", *state, 1);
	int status = heddle_platform_load("mine", &found);
	unsetenv("XDG_DATA_HOME");
	assert_int_equal(status, 0);
	assert_same(p, found);
	heddle_platform_free(p);
	heddle_platform_free(found);
}

static void names_are_sorted_and_unique(void **state)
{
	write_text(file_in(*state, "haswell-k40m.yaml"), TINY);
	write_text(file_in(*state, "zebra.yaml"), TINY);
	write_text(file_in(*state, "notes.txt"), "");
	char **names = NULL;
	assert_int_equal(heddle_platform_names(&names), 0);
	size_t found = 0;
	for (size_t i = 0; names[i]; i++) {
		if (i)
			assert_true(strcmp(names[i - 1], names[i]) < 0);
		for (size_t j = 0; j < N_SHIPPED; j++)
			found += strcmp(names[i], shipped[j]) == 0;
		found += strcmp(names[i], "zebra") == 0;
		assert_string_not_equal(names[i], "notes");
	}
	assert_int_equal(found, N_SHIPPED + 1);
	heddle_platform_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parse_tiny_gives_every_field),
	    IN_DIRECTORY(parse_streams_gives_rates_of_kernels),
	    cmocka_unit_test(parse_bad_file_says_what_and_where),
	    cmocka_unit_test(parse_any_prefix_is_refused_or_valid),
	    cmocka_unit_test(parse_sample_of_the_manual_is_accepted),
	    cmocka_unit_test(parse_null_argument_is_invalid),
	    IN_DIRECTORY(save_shipped_round_trips),
	    IN_DIRECTORY(save_awkward_values_round_trips),
	    IN_DIRECTORY(save_wrong_platform_is_refused),
	    cmocka_unit_test(check_text_that_is_not_utf8_is_refused),
	    IN_DIRECTORY(load_missing_file_is_io_error),
	    IN_DIRECTORY(load_unknown_name_lists_known_ones),
	    IN_DIRECTORY(load_name_takes_first_directory),
	    IN_DIRECTORY(load_name_looks_in_user_data),
	    IN_DIRECTORY(names_are_sorted_and_unique),
	};
	return cmocka_run_group_tests_name("platform files", tests, NULL, NULL);
}
