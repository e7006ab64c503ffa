/* Which links share a bandwidth: found by measurement on machines whose buses are known, with made-up measurements. */
#include "platform_fixture.h"

/* A machine with GPUs, each with links of 10000 MB/s both ways. */
static struct heddle_platform *machine(unsigned gpus, const char *buses)
{
	char text[4096], *end = text;
	end += sprintf(end, "version: 1\nname: m\nnodes:\n- {name: ram}\n");
	for (unsigned g = 1; g <= gpus; g++)
		end += sprintf(end, "- {name: g%u}\n", g);
	end += sprintf(end, "classes:\n- {name: gpu, kind: cuda, pipeline: 2}\nworkers:\n");
	for (unsigned g = 1; g <= gpus; g++)
		end += sprintf(end, "- {name: w%u, class: gpu, node: g%u}\n", g, g);
	end += sprintf(end, "%slinks:\n", buses);
	for (unsigned g = 1; g <= gpus; g++)
		end += sprintf(
		    end, "- {from: ram, to: g%u, bandwidth_mbs: 10000}\n- {from: g%u, to: ram, bandwidth_mbs: 10000}\n",
		    g, g);
	return parsed(text);
}

/* What a measurement would show. */
struct truth {
	double both;     /* MB/s: a device's two links together; 0: no limit */
	double from_ram; /* all devices, one way */
	double all;      /* all devices, both ways */
	int calls, fails;
};

static double least(double a, double b)
{
	return b > 0 && b < a ? b : a;
}

/* Links are 2 (g - 1) from main memory to GPU g, and the next one back. */
static int together(const size_t *links, size_t n, double *out, void *arg)
{
	struct truth *t = arg;
	double forth = 0, back = 0;
	for (size_t i = 0; i < n; i++)
		*(links[i] % 2 ? &back : &forth) += 10000;
	size_t devices = (size_t)((forth > back ? forth : back) / 10000);
	forth = least(forth, t->from_ram);
	*out = least(least(forth + back, t->both * (double)devices), t->all);
	t->calls++;
	return t->calls == t->fails ? HEDDLE_E_DEVICE : 0;
}

static void links_that_are_fast_together_share_nothing(void **state)
{
	(void)state;
	struct heddle_platform *p = machine(3, "");
	struct truth t = {.fails = 0};
	assert_int_equal(hd_buses_find(p, together, &t), 0);
	assert_int_equal(t.calls, 3 + 3); /* each device both ways, all one way, all the other way, all */
	assert_int_equal(p->n_buses, 0);
	heddle_platform_free(p);
}

static void both_directions_of_a_device_may_share(void **state)
{
	(void)state;
	struct heddle_platform *p = machine(2, "");
	struct truth t = {.both = 14000};
	assert_int_equal(hd_buses_find(p, together, &t), 0);
	assert_int_equal(p->n_buses, 2); /* and no more: all together do not share more than that */
	assert_string_equal(p->buses[1].name, "g2");
	assert_true(p->buses[0].bandwidth == 14000);
	for (size_t i = 0; i < p->n_links; i++) {
		assert_int_equal(p->links[i].n_buses, 1);
		assert_int_equal(p->links[i].buses[0], i / 2);
	}
	assert_int_equal(heddle_platform_check(p), 0);
	heddle_platform_free(p);
}

static void several_devices_may_share_one_way(void **state)
{
	(void)state;
	struct heddle_platform *p = machine(4, "");
	struct truth t = {.from_ram = 25000};
	assert_int_equal(hd_buses_find(p, together, &t), 0);
	assert_int_equal(p->n_buses, 1);
	assert_string_equal(p->buses[0].name, "from-ram");
	assert_true(p->buses[0].bandwidth == 25000);
	for (size_t i = 0; i < p->n_links; i++)
		assert_int_equal(p->links[i].n_buses, p->links[i].from == 0);
	heddle_platform_free(p);
}

/* Each device alone seems to share something, too, as do all one way and all the other way. */
static void all_may_share_one_bus(void **state)
{
	(void)state;
	struct heddle_platform *p = machine(2, "buses:\n- {name: old, bandwidth_mbs: 1}\n");
	struct truth t = {.from_ram = 12000, .all = 15000};
	assert_int_equal(hd_buses_find(p, together, &t), 0);
	assert_int_equal(p->n_buses, 2);
	assert_string_equal(p->buses[0].name, "from-ram");
	assert_string_equal(p->buses[1].name, "both-ways");
	assert_true(p->buses[0].bandwidth == 12000 && p->buses[1].bandwidth == 15000);
	for (size_t i = 0; i < p->n_links; i++)
		assert_int_equal(p->links[i].n_buses, p->links[i].from == 0 ? 2 : 1);
	assert_int_equal(heddle_platform_check(p), 0);
	heddle_platform_free(p);
}

static void failed_measurement_is_an_error(void **state)
{
	(void)state;
	struct heddle_platform *p = machine(2, "");
	struct truth t = {.fails = 2};
	assert_int_equal(hd_buses_find(p, together, &t), HEDDLE_E_DEVICE);
	heddle_platform_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(links_that_are_fast_together_share_nothing),
	    cmocka_unit_test(both_directions_of_a_device_may_share),
	    cmocka_unit_test(several_devices_may_share_one_way),
	    cmocka_unit_test(all_may_share_one_bus),
	    cmocka_unit_test(failed_measurement_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
