/* libFuzzer on platform files: no input may crash, leak or hang the reader; what it accepts passes the check, can be
 * used, and is written to YAML that reads back to a platform written the same way.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc tests/fuzz/fuzz_platform.c \
 *         src/machine/platform*.c src/machine/clusters.c src/machine/cluster_set.c src/base/[a-z]*.c \
 *         -lyaml -lm -o fuzz_platform
 *   ./fuzz_platform -max_total_time=60 CORPUS platforms
 */
#include <heddle/platform.h>
#include <string.h>
#include "machine/machine.h"
#include "fuzz.h"

static void use(const struct heddle_platform *p)
{
	require(heddle_platform_check(p) == 0, "an accepted platform fails the check");
	for (size_t i = 0; i < p->n_kernels; i++)
		for (double bytes = 0; bytes < 1e8; bytes = 10 * bytes + 1)
			heddle_platform_time(p, p->kernels[i].codelet, p->kernels[i].class_id, bytes, 1e6);
	for (unsigned n = 1; n < p->n_nodes; n++)
		require(heddle_platform_link(p, 0, n) && heddle_platform_link(p, n, 0), "a node cannot be reached");
}

/* Groups the cores of a copy in several ways; whatever comes of it is a platform. */
static void group(const struct heddle_platform *p)
{
	static const char *const cluster_sets[] = {"2", "1x3+2x2", "none", "2,none,3"};
	struct heddle_platform *copy = NULL;
	size_t cores = 0;
	for (size_t i = 0; i < p->n_workers; i++)
		cores += p->classes[p->workers[i].class_id].cores;
	if (cores > 500)
		return; /* it takes long */
	require(heddle_platform_copy(p, &copy) == 0, "a platform cannot be copied");
	for (size_t i = 0; i < copy->n_levels && i < 4; i++)
		heddle_platform_cluster(copy, copy->levels[i].name);
	for (size_t i = 0; i < sizeof cluster_sets / sizeof *cluster_sets; i++)
		heddle_platform_cluster(copy, cluster_sets[i]);
	require(heddle_platform_check(copy) == 0, "a grouped platform fails the check");
	heddle_platform_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heddle_platform *p = NULL, *again = NULL, *copy = NULL;
	int status = heddle_platform_parse("fuzz", (const char *)data, size, &p);
	if (status) {
		require(status == HEDDLE_E_FORMAT && !p, "a refusal is not HEDDLE_E_FORMAT");
		require(strlen(heddle_last_error()) > 0, "a refusal says nothing");
		return 0;
	}
	use(p);
	group(p);
	char *first = NULL, *second = NULL;
	size_t n_first = 0, n_second = 0;
	require(heddle_platform_copy(p, &copy) == 0, "a platform cannot be copied");
	require(hd_platform_format(copy, &first, &n_first) == 0, "a platform cannot be written");
	require(heddle_platform_parse("again", first, n_first, &again) == 0, "what was written cannot be read");
	require(hd_platform_format(again, &second, &n_second) == 0, "what was read back cannot be written");
	require(n_first == n_second && memcmp(first, second, n_first) == 0, "a round trip changes the platform");
	free(first);
	free(second);
	heddle_platform_free(p);
	heddle_platform_free(again);
	heddle_platform_free(copy);
	return 0;
}
