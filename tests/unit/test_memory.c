/* Memory of many small things: pieces of chunks; handles that are used again. */
#include <heddle/data.h>
#include "internals.h"
#include "program.h"
#include "base/fresh.h"

/* The pieces fill several chunks, and one piece is larger than the largest chunk. */
static void pieces_do_not_overlap(void **state)
{
	(void)state;
	enum { N = 20000 };
	struct hd_arena arena = {0};
	unsigned char *pieces[N];
	size_t sizes[N];
	struct hd_rng rng;
	hd_rng_seed(&rng, 7);
	for (size_t i = 0; i < N; i++) {
		size_t alignment = (size_t)8 << hd_rng_next(&rng) % 4;
		sizes[i] = i == N / 2 ? (size_t)5 << 20 : 1 + hd_rng_next(&rng) % 600;
		pieces[i] = hd_arena_take(&arena, sizes[i], alignment);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % alignment, 0);
		memset(pieces[i], (int)(i & 0xff), sizes[i]);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(pieces[i][k], i & 0xff);
	hd_arena_close(&arena);
	assert_null(arena.chunks);
}

static void handles_are_used_again(void **state)
{
	(void)state;
	enum { LIVE = 100, ROUNDS = 300 }; /* together more than the first chunks hold */
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_with(&config);
	double x[LIVE] = {0};
	heddle_data *data[LIVE];
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < LIVE; i++)
			assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &data[i]));
		for (int i = 0; i < LIVE; i++)
			assert_ok(heddle_unregister(data[(i * 37 + round) % LIVE]));
	}
	assert_int_equal(rt->handles.memory->outside.size, hd_chunk_size(0));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_do_not_overlap),
	    cmocka_unit_test(handles_are_used_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
