/* Hash tables find what was put into them, and nothing else. */
#include "base/table.h"
#include "program.h"

/* Puts `key` with `number` behind the slots that have the key. */
static void put(struct hd_table *t, uint64_t key, size_t number)
{
	assert_int_equal(hd_table_reserve(t, 1), 0);
	struct hd_table_slot *slot = hd_table_find(t, key);
	while (slot->value)
		slot = hd_table_next(t, slot);
	hd_table_fill(t, slot, key, number);
	assert_true(2 * t->used <= t->size);
}

static void finds_each_key_while_it_grows(void **state)
{
	(void)state;
	enum { N = 3000 };
	struct hd_table t = {0};
	for (size_t n = 0; n < N; n++) {
		put(&t, n * n, n); /* key 0 is a key like any other */
		for (size_t i = 0; i <= n; i += 1 + n / 16)
			assert_int_equal(hd_table_find(&t, i * i)->value, 1 + i);
		assert_int_equal(hd_table_find(&t, n * n + 2 * n)->value, n ? 0 : 1); /* between two squares */
	}
	assert_int_equal(t.used, N);
	free(t.slots);
}

static void walks_over_all_numbers_of_a_key(void **state)
{
	(void)state;
	struct hd_table t = {0};
	enum { KEYS = 5, N = 200 };
	for (size_t n = 0; n < N; n++)
		put(&t, n % KEYS, n);
	for (size_t key = 0; key < KEYS; key++) {
		unsigned found[N] = {0}, n = 0;
		for (const struct hd_table_slot *s = hd_table_find(&t, key); s->value; s = hd_table_next(&t, s), n++) {
			assert_int_equal((s->value - 1) % KEYS, key);
			assert_int_equal(found[s->value - 1]++, 0);
		}
		assert_int_equal(n, N / KEYS);
	}
	assert_int_equal(hd_table_find(&t, KEYS)->value, 0);
	free(t.slots);
}

static void room_that_is_reserved_is_there(void **state)
{
	(void)state;
	struct hd_table t = {0};
	assert_int_equal(hd_table_reserve(&t, 1000), 0);
	const struct hd_table_slot *slots = t.slots;
	for (size_t n = 0; n < 1000; n++)
		put(&t, hd_mix(n), n);
	assert_ptr_equal(t.slots, slots);
	free(t.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(finds_each_key_while_it_grows),
	                                   cmocka_unit_test(walks_over_all_numbers_of_a_key),
	                                   cmocka_unit_test(room_that_is_reserved_is_there)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
