// Exceptions: errors of the library, exceptions that leave kernels, events, and what reaches whom.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
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

static void groups_and_tasks_throw_any_number_of_exceptions()
{
	heddle::runtime rt(small());
	for (int i = 0; i < 3000; i++) {
		heddle::group g(rt);
		for (int k = 0; k < 2; k++)
			g.submit("fail", [i] { throw own(i); });
		EXPECT(thrown_by<own>([&] { g.wait(); }).number == i);
	}
	rt.submit("fail", [] { throw own(-2); });
	EXPECT(thrown_by<own>([&] { rt.wait(); }).number == -2);
	for (int i = 0; i < 3000; i++) {
		heddle::task t = rt.async("fail", [i] { throw own(i); });
		for (int k = 0; k < 2; k++)
			EXPECT(thrown_by<own>([&] { t.wait(); }).number == i);
	}
	heddle::runtime other(small());
	other.submit("fail", [] { throw own(-1); });
	EXPECT(thrown_by<own>([&] { other.wait(); }).number == -1);
}

/* Of more exceptions than are kept, before a wait could throw one of them, the first and the last are. */
static void of_too_many_exceptions_the_first_and_the_last_are_kept()
{
	heddle::runtime rt(small(1));
	std::vector<heddle::task> tasks;
	for (int i = 0; i < 3000; i++)
		tasks.push_back(rt.async("fail", [i] { throw own(i); }));
	EXPECT(heddle_wait_all(rt.get()) == HEDDLE_E_KERNEL);
	EXPECT(thrown_by<own>([&] { tasks[0].wait(); }).number == 0);
	EXPECT(thrown_by<own>([&] { tasks[2999].wait(); }).number == 2999);
	EXPECT(thrown_by<heddle::error>([&] { tasks[1000].wait(); }).status() == HEDDLE_E_KERNEL);
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
	heddle_submit(rt.get(), heddle_call(heddle_codelet_new_of(rt.get(), &desc)));
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

/* The sentence of the error that the next wait of the runtime throws, whose status is this. */
static std::string given_up(heddle::runtime &rt, int status)
{
	heddle::error e = thrown_by<heddle::error>([&] { rt.wait(); });
	EXPECT(e.status() == status);
	rt.wait(); /* it is thrown once */
	EXPECT(heddle_selfcheck(rt.get()) == 0);
	return e.what();
}

/* A kernel with a variable of its own that tasks of a group use, which need what the kernel has itself. */
static void tasks_that_wait_for_their_kernel_never_see_its_variables()
{
	for (int n_cpu = 1; n_cpu <= 2; n_cpu++) {
		heddle::runtime rt(small(n_cpu));
		std::vector<int> v(1, 1);
		std::atomic<int> ran{0}, ended{0};
		heddle::data d(rt, v);
		rt.submit("kernel", inout(d), [&](auto) {
			auto local = std::make_unique<std::vector<int>>(100, 5);
			heddle::group g(rt);
			for (int i = 0; i < 3; i++)
				g.submit("needs its kernel's", inout(d), [&ran, p = local.get()](auto x) {
					x[0] = (*p)[0]; /* AddressSanitizer would find this */
					ran++;
				});
			g.submit("free", [&ended, p = local.get()] { ended = (*p)[99]; });
		});
		std::string why = given_up(rt, HEDDLE_E_DEADLOCK);
		EXPECT(why.find("the destructor of a group of tasks could not wait") != std::string::npos);
		EXPECT(why.find("needs its kernel's") != std::string::npos && why.find("`wait`") != std::string::npos);
		EXPECT(ran == 0 && ended == 5);
		rt.submit("repair", out(d), [](auto x) { x[0] = 7; });
		EXPECT(d.acquire_read()[0] == 7);
	}
}

/* A kernel registers a datum in memory of its own, and submits tasks that use the datum, or pieces of it, and can never
 * begin: the destructor of the datum gives the datum up, and the tasks never see its memory. */
static void data_that_cannot_be_waited_for_give_their_memory_back()
{
	for (int pieces = 0; pieces < 2; pieces++) {
		heddle::runtime rt(small(1));
		int x = 0;
		std::atomic<int> ran{0};
		heddle::data d(rt, x);
		rt.submit("kernel", inout(d), [&](int *) {
			auto local = std::make_unique<std::vector<int>>(100, 5);
			heddle::data own(rt, *local);
			own.set_name("own");
			rt.submit("before", inout(own), [](auto o) { o[0] = 6; });
			if (pieces) {
				auto halves = own.split(2);
				rt.submit("stuck", in(d), out(halves[1]), [&ran](auto, auto) { ran++; });
			} else {
				rt.submit("stuck", in(d), inout(own), [&ran](auto, auto) { ran++; });
			}
		});
		std::string why = given_up(rt, HEDDLE_E_DEADLOCK);
		EXPECT(why.find("the destructor of a datum") != std::string::npos);
		EXPECT(why.find("own was given up") != std::string::npos && ran == 0);
		EXPECT(*d.acquire_read() == 0);
	}
}

/* Where nobody could wait, groups and data are refused before tasks use what lives there. */
static void kernels_that_could_not_wait_are_told_early()
{
	heddle::runtime rt(small());
	heddle::data<int, 1> scratch_space(rt, 10);
	auto kernel = [&rt](bool make_data) {
		int local = 0;
		if (make_data) {
			heddle::data own(rt, local);
			rt.submit("never", inout(own), [](int *) {});
		} else {
			heddle::group g(rt);
			g.submit("never", [&local] { local++; });
		}
	};
	for (bool make_data : {false, true}) {
		rt.submit("has scratch", scratch(scratch_space), [=](auto) { kernel(make_data); });
		heddle::error e = thrown_by<heddle::error>([&] { rt.wait(); });
		EXPECT(e.status() == HEDDLE_E_UNSUPPORTED);
		EXPECT(std::string(e.what()).find("has scratch") != std::string::npos);
	}
}

/* Data that are destroyed where they were not made: in a kernel that could not wait for the tasks that use them. */
static void data_that_end_in_such_a_kernel_are_given_up()
{
	heddle::runtime rt(small());
	heddle::data<int, 1> scratch_space(rt, 10);
	std::atomic<int> ran{0};
	int x = 1, y = 2;
	heddle::data held(rt, x);
	auto moved = std::make_unique<heddle::data<int, 0>>(rt, y);
	{
		auto now = held.acquire();
		rt.submit("waits", in(held), inout(*moved), [&ran](auto, auto) { ran++; });
		heddle::task t = rt.async("ends it", scratch(scratch_space), [&moved](auto) { moved.reset(); });
		t.wait();
	}
	given_up(rt, HEDDLE_E_UNSUPPORTED);
	EXPECT(ran == 0 && y == 2);
}

/* A kernel destroys the datum of its own task, which it cannot wait for. */
static void data_that_end_in_a_kernel_that_uses_them_are_given_up()
{
	heddle::runtime rt(small());
	std::atomic<int> ran{0};
	int y = 2;
	auto moved = std::make_unique<heddle::data<int, 0>>(rt, y);
	std::atomic<bool> submitted{false};
	rt.submit("ends it", in(*moved), [&](auto) {
		while (!submitted)
			std::this_thread::yield();
		moved.reset();
	});
	rt.submit("later", inout(*moved), [&ran](auto) { ran++; });
	submitted = true;
	std::string why = given_up(rt, HEDDLE_E_STATE);
	EXPECT(why.find("cannot end before ends it (") != std::string::npos);
	EXPECT(why.find("the destructor of a datum could not wait") != std::string::npos);
	EXPECT(ran == 0 && y == 2);
}

/* Kernels that wait in each other until the stack is full. */
static void nest(heddle::runtime &rt, std::atomic<int> &depth)
{
	heddle::group g(rt);
	depth++;
	volatile char space[100000];                         /* without it, it would take thousands of tasks */
	for (std::size_t i = 0; i < sizeof space; i += 1000) /* a loop, so that compilers keep all of it */
		space[i] = 1;
	g.submit("nest", [&rt, &depth] { nest(rt, depth); });
	g.wait();
}

static void a_full_stack_is_an_exception()
{
	heddle::runtime rt(small(1));
	std::atomic<int> depth{0};
	rt.submit("nest", [&rt, &depth] { nest(rt, depth); });
	heddle::error e = thrown_by<heddle::error>([&] { rt.wait(); });
	EXPECT(e.status() == HEDDLE_E_MEMORY && depth > 2);
	EXPECT(std::string(e.what()).find("stack") != std::string::npos);
	rt.wait();
}

static void closing_throws_what_no_wait_has()
{
	heddle::runtime first(small());
	first.submit("fail", [] { throw own(11); });
	EXPECT(thrown_by<own>([&] { first.close(); }).number == 11);
	heddle::runtime second(small());
	{
		heddle::group g(second);
		g.submit("fail", [] { throw own(12); });
	}
	EXPECT(thrown_by<own>([&] { second.close(); }).number == 12);
	heddle::runtime third(small());
	third.close();
	third.close();
}

/* Where the runtime cannot be closed, it stays open: its destructor waits, and throws nothing away. */
static void closing_in_a_kernel_changes_nothing()
{
	int status = 0, sum = 0;
	{
		heddle::runtime rt(small());
		heddle::data d(rt, sum);
		rt.submit("fail", [] { throw own(13); });
		rt.submit("closes", inout(d), [&](int *) {
			heddle::error e = thrown_by<heddle::error>([&] { rt.close(); });
			status = e.status();
		});
		d.acquire_read();
		EXPECT(status == HEDDLE_E_STATE && rt.now() > 0);
		EXPECT(thrown_by<own>([&] { rt.wait(); }).number == 13);
		for (int i = 0; i < 100; i++)
			rt.submit("add", inout(d), [](int *v) { ++*v; });
	}
	EXPECT(sum == 100);
}

/* The status of a task is not that of a runtime that cannot be closed. */
static void closing_reports_a_value_that_was_never_written()
{
	heddle::runtime rt(small());
	heddle::data<int, 1> nothing(rt, 10);
	rt.submit("read", in(nothing), [](auto) {});
	heddle::error e = thrown_by<heddle::error>([&] { rt.close(); });
	EXPECT(e.status() == HEDDLE_E_CANCELLED);
	EXPECT(std::string(e.what()).find("nothing has ever written it") != std::string::npos);
	EXPECT(!rt.get());
}

// What on_wait returns, and what the kernel waits for. A destructor's wait ends only if the second call opens the gate.
static std::atomic<int> said, gate, calls;

static int look_around(void *)
{
	gate = gate || ++calls == 2;
	return said;
}

static heddle::settings looking()
{
	heddle::settings s = small();
	s.on_wait = look_around;
	said = 1;
	gate = 0;
	calls = 2;
	return s;
}

static void stay(long *v)
{
	while (!gate)
		std::this_thread::yield();
	++*v;
}

static void interrupted_waits_can_be_begun_again()
{
	heddle::runtime rt(looking());
	long x = 1, y = 1;
	heddle::data d(rt, x);
	rt.submit("stay", inout(d), [](long *v) { stay(v); });
	EXPECT(thrown_by<heddle::error>([&] { rt.wait(); }).status() == HEDDLE_E_INTERRUPTED);
	EXPECT(thrown_by<heddle::error>([&] { d.unregister(); }).status() == HEDDLE_E_INTERRUPTED);
	rt.submit("add", inout(d), [](long *v) { ++*v; });
	said = 0;
	gate = 1;
	d.unregister();
	EXPECT(x == 3);
	said = 1;
	gate = calls = 0;
	{
		heddle::data e(rt, y);
		rt.submit("stay", inout(e), [](long *v) { stay(v); });
	}
	EXPECT(y == 2 && calls >= 2);
}

static void an_interrupted_close_cancels_what_has_not_begun()
{
	heddle::runtime rt(looking());
	std::atomic<bool> ran = false;
	long x = 1;
	calls = 0;
	{
		heddle::task first = rt.async("stay", [&] { stay(&x); });
		rt.submit("never", heddle::after(first), [&] { ran = true; });
	}
	heddle::error e = thrown_by<heddle::error>([&] { rt.close(); });
	EXPECT(e.status() == HEDDLE_E_INTERRUPTED && !ran && x == 2);
	EXPECT(std::string(e.what()).find("1 tasks") != std::string::npos);
}

int main()
{
	return run_tests({
	    TEST(errors_have_a_status_and_a_sentence),
	    TEST(exceptions_of_kernels_reach_every_kind_of_wait),
	    TEST(who_needed_the_value_is_cancelled),
	    TEST(what_a_group_has_not_thrown_the_runtime_does),
	    TEST(many_failures_take_bounded_memory),
	    TEST(groups_and_tasks_throw_any_number_of_exceptions),
	    TEST(of_too_many_exceptions_the_first_and_the_last_are_kept),
	    TEST(kernels_in_c_fail_with_an_error),
	    TEST(kernels_wait_and_exceptions_go_through_them),
	    TEST(tasks_end_by_events),
	    TEST(tasks_that_wait_for_their_kernel_never_see_its_variables),
	    TEST(data_that_cannot_be_waited_for_give_their_memory_back),
	    TEST(kernels_that_could_not_wait_are_told_early),
	    TEST(data_that_end_in_such_a_kernel_are_given_up),
	    TEST(data_that_end_in_a_kernel_that_uses_them_are_given_up),
	    TEST(a_full_stack_is_an_exception),
	    TEST(closing_throws_what_no_wait_has),
	    TEST(closing_in_a_kernel_changes_nothing),
	    TEST(closing_reports_a_value_that_was_never_written),
	    TEST(interrupted_waits_can_be_begun_again),
	    TEST(an_interrupted_close_cancels_what_has_not_begun),
	});
}
