// Exceptions: errors of the library, exceptions that leave kernels, events, and what reaches whom.
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include "expect.hpp"

struct own : std::runtime_error {
	int number;
	explicit own(int n) : std::runtime_error("own exception " + std::to_string(n)), number(n) {}
};

static void errors_have_a_status_and_a_sentence()
{
	heddle::settings s = small();
	s.sched = "no such policy";
	heddle::error e = thrown_by<heddle::error>([&] { heddle::runtime rt(s); });
	EXPECT(e.status() == HEDDLE_E_UNKNOWN);
	EXPECT(std::string(e.what()).find("no such policy") != std::string::npos);
}

static void exceptions_of_kernels_reach_every_kind_of_wait()
{
	heddle::runtime rt(small());
	heddle::group g(rt);
	heddle::task t = rt.async("first", [] { throw own(1); });
	g.submit("second", [] { throw own(2); });
	EXPECT(thrown_by<own>([&] { t.wait(); }).number == 1);
	EXPECT(thrown_by<own>([&] { rt.wait(); }).number == 1);
	EXPECT(thrown_by<own>([&] { g.wait(); }).number == 2);
	g.wait();
	rt.wait();
	g.submit("seven", [] { throw 7; });
	EXPECT(thrown_by<int>([&] { g.wait(); }) == 7);
}

static void who_needed_the_value_is_cancelled()
{
	heddle::runtime rt(small());
	heddle::group g(rt);
	int x = 0;
	bool ran = false;
	heddle::data d(rt, x);
	rt.submit("fail", inout(d), [](int *) { throw own(3); });
	g.submit("needs it", in(d), [&](const int *) { ran = true; });
	heddle::error e = thrown_by<heddle::error>([&] { g.wait(); });
	EXPECT(e.status() == HEDDLE_E_CANCELLED && !ran);
	EXPECT(std::string(e.what()).find("own exception 3") != std::string::npos);
	EXPECT(thrown_by<own>([&] { rt.wait(); }).number == 3);
	rt.submit("repair", out(d), [](int *v) { *v = 1; });
	EXPECT(*d.acquire_read() == 1);
}

static void what_a_group_has_not_thrown_the_runtime_does()
{
	heddle::runtime rt(small());
	int used = 0;
	try {
		int local = 0;
		heddle::group g(rt);
		g.submit("late", [&local] { local++; });
		g.submit("fail", [] { throw own(4); });
		throw own(5); /* the group waits before `local` is gone */
	} catch (const own &e) {
		used = e.number;
	}
	EXPECT(used == 5);
	EXPECT(thrown_by<own>([&] { rt.wait(); }).number == 4);
	rt.wait();
}

static void many_failures_take_bounded_memory()
{
	heddle::runtime rt(small());
	auto kept = std::make_shared<int>(1);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 1200; k++)
			rt.submit("fail", [] { throw own(6); });
		EXPECT(thrown_by<own>([&] { rt.wait(); }).number == 6);
		rt.wait();
	}
	struct holder : own {
		std::shared_ptr<int> p;
		explicit holder(std::shared_ptr<int> q) : own(7), p(std::move(q)) {}
	};
	rt.submit("hold", [kept] { throw holder(kept); });
	thrown_by<own>([&] { rt.wait(); });
	rt.wait();
	EXPECT(kept.use_count() == 1);
}

static int five(heddle_context *c)
{
	return heddle_fail(c, 5, "in C");
}

static void kernels_in_c_fail_with_an_error()
{
	heddle::runtime rt(small());
	heddle_codelet_desc desc = {};
	desc.name = "five";
	desc.cpu = five;
	heddle_submit(rt.get(), heddle_call(heddle_codelet_make(rt.get(), &desc)));
	heddle::error e = thrown_by<heddle::error>([&] { rt.wait(); });
	EXPECT(e.status() == HEDDLE_E_KERNEL && heddle_last_code() == 5);
}

/* Counts to `n` in a tree of tasks; the leaf with the number `bad` throws. */
static long count(heddle::runtime &rt, long n, long bad)
{
	if (n == 1) {
		if (bad == 0)
			throw own(10);
		return 1;
	}
	long left = 0, right = 0, both = 0;
	{
		heddle::data sum(rt, both);
		heddle::group halves(rt);
		halves.submit("count", [&rt, &left, n, bad] { left = count(rt, n / 2, bad); });
		halves.submit("count", [&rt, &right, n, bad] { right = count(rt, n - n / 2, bad - n / 2); });
		halves.wait();
		const long together = left + right;
		rt.submit("sum", inout(sum), [together](long *x) { *x += together; });
	} /* here `sum` waits for its task, in the kernel */
	return both;
}

static void kernels_wait_and_exceptions_go_through_them()
{
	for (int n_cpu = 1; n_cpu <= 2; n_cpu++) {
		heddle::runtime rt(small(n_cpu));
		long n = 0;
		heddle::data d(rt, n);
		rt.submit("all", out(d), [&rt](long *x) { *x = count(rt, 100, -1); });
		EXPECT(*d.acquire_read() == 100);
		rt.submit("all", out(d), [&rt](long *x) { *x = count(rt, 100, 70); });
		EXPECT(thrown_by<own>([&] { rt.wait(); }).number == 10);
		rt.submit("repair", out(d), [](long *x) { *x = 0; });
	}
}

static void tasks_end_by_events()
{
	heddle::runtime rt(small());
	int x = 0;
	heddle::data d(rt, x);
	std::thread other;
	rt.submit("later", out(d), [&](heddle::context c, int *v) {
		other = std::thread([v, e = c.detach()]() mutable {
			*v = 8;
			e.fulfill();
		});
	});
	EXPECT(*d.acquire_read() == 8);
	other.join();
	rt.submit("fails later", [](heddle::context c) { c.detach().fail(std::make_exception_ptr(own(9))); });
	EXPECT(thrown_by<own>([&] { rt.wait(); }).number == 9);
	rt.submit("forgets", [](heddle::context c) { heddle::event e = c.detach(); });
	heddle::error e = thrown_by<heddle::error>([&] { rt.wait(); });
	EXPECT(std::string(e.what()).find("never fulfilled") != std::string::npos);
}

int main()
{
	return run_tests({
	    TEST(errors_have_a_status_and_a_sentence),
	    TEST(exceptions_of_kernels_reach_every_kind_of_wait),
	    TEST(who_needed_the_value_is_cancelled),
	    TEST(what_a_group_has_not_thrown_the_runtime_does),
	    TEST(many_failures_take_bounded_memory),
	    TEST(kernels_in_c_fail_with_an_error),
	    TEST(kernels_wait_and_exceptions_go_through_them),
	    TEST(tasks_end_by_events),
	});
}
