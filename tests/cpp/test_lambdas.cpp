// Lambdas as kernels: what they get, what they capture, and where they may come from.
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>
#include "expect.hpp"

static void views_are_of_the_data()
{
	heddle::runtime rt(small());
	std::vector<double> a(100, 1), b(100, 2);
	double total = 0;
	{
		heddle::data x(rt, a);
		heddle::data y(rt, b);
		heddle::data t(rt, total);
		static_assert(std::is_same_v<decltype(x), heddle::data<double, 1>>);
		static_assert(std::is_same_v<decltype(t), heddle::data<double, 0>>);
		rt.submit("axpy", in(x), inout(y), [](auto from, auto to) {
			static_assert(std::is_same_v<decltype(from), heddle::span<const double>>);
			static_assert(std::is_same_v<decltype(to), heddle::span<double>>);
			for (std::size_t i = 0; i < to.size(); i++)
				to[i] += 3 * from[i];
		});
		rt.submit("sum", in(y), out(t), [](heddle::span<const double> v, double *sum) {
			*sum = std::accumulate(v.begin(), v.end(), 0.0);
		});
	}
	EXPECT(b[0] == 5 && b[99] == 5 && total == 500);
}

static void matrices_have_a_leading_dimension_and_tiles()
{
	heddle::runtime rt(small());
	std::vector<int> store(7 * 5, -1);
	{
		heddle::data a(rt, store.data(), 5, 5, 7);
		rt.submit("fill", out(a), [](heddle::matrix_view<int> m) {
			EXPECT(m.rows() == 5 && m.columns() == 5);
			for (std::size_t j = 0; j < 5; j++)
				for (std::size_t i = 0; i < 5; i++)
					m(i, j) = static_cast<int>(10 * i + j);
		});
		{
			auto t = a.tiles(2, 3);
			EXPECT(t.size() == 6);
			rt.submit("tile", inout(t(1, 1)), [](auto m) {
				EXPECT(m.rows() == 2 && m.columns() == 2 && m(0, 0) == 23);
				for (int &x : m.column(1))
					x = 99;
			});
			auto inner = t(0, 0).split_rows(2);
			rt.submit("inner", inout(inner[1]), [](auto m) {
				EXPECT(m.rows() == 1 && m.columns() == 3 && m(0, 2) == 12);
				m(0, 2) = 77;
			});
		}
		auto b = a.acquire_read();
		EXPECT(b(2, 4) == 99 && b(3, 4) == 99 && b(1, 4) == 14 && b(1, 2) == 77);
		EXPECT(b->ld() == 7);
	}
	EXPECT(store[5] == -1 && store[2 + 4 * 7] == 99);
}

static void pieces_that_are_not_there_are_refused()
{
	std::vector<double> a(12);
	heddle::runtime rt(small());
	heddle::data m(rt, a.data(), 3, 4);
	{
		auto tiles = m.tiles(2, 2);
		EXPECT(tiles.size() == 4 && &tiles(1, 1) == &tiles[3]);
		for (auto wrong : {std::array<std::size_t, 2>{2, 0}, {0, 2}, {2, 1}, {SIZE_MAX, SIZE_MAX}})
			EXPECT(thrown_by<heddle::error>([&] { tiles(wrong[0], wrong[1]); }).status() ==
			       HEDDLE_E_INVALID);
		heddle::error e = thrown_by<heddle::error>([&] { tiles[4]; });
		EXPECT(std::string(e.what()) == "there is no piece 4, there are 4");
		auto moved = std::move(tiles);
		thrown_by<heddle::error>([&] { tiles[0]; });
	}
	auto columns = m.split_columns(4);
	EXPECT(&columns(0, 3) == &columns[3]);
	thrown_by<heddle::error>([&] { columns(1, 0); });
}

static void tasks_take_ranges_of_data()
{
	heddle::runtime rt(small());
	std::vector<long> v(90);
	std::iota(v.begin(), v.end(), 0);
	long first = 0, n = 0;
	{
		heddle::data x(rt, v);
		heddle::data count(rt, n);
		heddle::data sum(rt, first);
		auto p = x.split(9);
		rt.submit("count", inout(count), in(p), out(sum), [](long *pieces, auto all, long *s) {
			*pieces += static_cast<long>(all.size());
			*s = 0;
			for (std::size_t i = 0; i < all.size(); i++)
				*s += all[i][0];
		});
		std::vector<heddle::handle<long, 1>> some{p[1], p[4]};
		rt.submit("two", inout(some), in(count), [](auto all, const long *pieces) {
			for (std::size_t i = 0; i < all.size(); i++)
				all[i][0] = *pieces;
		});
	}
	EXPECT(n == 9 && first == 360 && v[10] == 9 && v[40] == 9 && v[20] == 20);
}

static void blocks_with_a_halo_can_only_be_read()
{
	heddle::runtime rt(small());
	std::vector<int> v(12, 1);
	int sizes = 0;
	heddle::data x(rt, v);
	heddle::data s(rt, sizes);
	auto p = x.split_halo(3, 1);
	static_assert(std::is_same_v<decltype(p), heddle::pieces<const int, 1>>);
	for (const auto &block : p)
		rt.submit("size", in(block), inout(s), [](auto b, int *sum) { *sum += static_cast<int>(b.size()); });
	EXPECT(*s.acquire_read() == 5 + 6 + 5);
}

static void tiles_with_a_halo_can_only_be_read()
{
	heddle::runtime rt(small());
	std::vector<int> v(6 * 5, 1);
	int sizes = 0;
	heddle::data<int, 2> x(rt, v.data(), 6, 5, 6);
	heddle::data s(rt, sizes);
	auto p = x.tiles_halo(2, 3, 1, 2);
	static_assert(std::is_same_v<decltype(p), heddle::pieces<const int, 2>>);
	for (const auto &tile : p)
		rt.submit("size", in(tile), inout(s),
		          [](auto t, int *sum) { *sum = *sum * 10 + static_cast<int>(t.rows()); });
	EXPECT(*s.acquire_read() == 343343 && p.size() == 6);
	rt.submit("size", in(p(2, 1)), out(s), [](auto t, int *sum) { *sum = static_cast<int>(t.columns()); });
	EXPECT(*s.acquire_read() == 4);
}

static void reductions_combine_what_tasks_contribute()
{
	heddle::runtime rt(small());
	std::vector<int> v(100);
	std::iota(v.begin(), v.end(), 1);
	std::array<int, 2> lows{1000, 1000};
	int total = 7;
	{
		heddle::data x(rt, v);
		heddle::data t(rt, total);
		heddle::data low(rt, lows);
		t.set_reduction(heddle::sum());
		low.set_reduction(heddle::minimum());
		auto p = x.split(10);
		for (const auto &block : p) {
			rt.submit("sum", in(block), reduce(t),
			          [](auto b, int *s) { *s += std::accumulate(b.begin(), b.end(), 0); });
			rt.submit("minimum", in(block), reduce(low),
			          [](auto b, auto l) { l[1] = std::min(l[1], b[0]); });
		}
	}
	EXPECT(total == 7 + 5050 && lows[0] == 1000 && lows[1] == 1);
}

template <class T> static void extremes_of(T low, T high)
{
	heddle::runtime rt(small());
	std::array<T, 3> least{low, high, 3}, greatest = least;
	{
		heddle::data a(rt, least);
		heddle::data b(rt, greatest);
		a.set_reduction(heddle::minimum());
		b.set_reduction(heddle::maximum());
		for (int i = 0; i < 20; i++)
			rt.submit("extremes", reduce(a), reduce(b), [low, high](auto x, auto y) {
				x[0] = std::min(x[0], high); /* what every task contributes is the neutral value */
				y[1] = std::max(y[1], low);
				x[2] = std::min(x[2], T(2));
				y[2] = std::max(y[2], T(4));
			});
	}
	EXPECT(least[0] == low && least[1] == high && least[2] == 2);
	EXPECT(greatest[0] == low && greatest[1] == high && greatest[2] == 4);
}

static void extremes_of_nothing_are_neutral()
{
	constexpr double infinite = std::numeric_limits<double>::infinity();
	extremes_of(-infinite, infinite);
	extremes_of(-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity());
	extremes_of(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
	extremes_of(0u, std::numeric_limits<unsigned>::max());
}

static void temporaries_are_allocated_by_tasks()
{
	heddle::runtime rt(small());
	long sum = 0;
	{
		heddle::data<long, 1> t(rt, 10);
		heddle::data<long, 3> cube(rt, 2, 3, 4);
		heddle::data s(rt, sum);
		rt.submit("fill", out(t), out(cube), [](auto v, auto c) {
			std::iota(v.begin(), v.end(), 0);
			c(1, 2, 3) = 5;
		});
		rt.submit("sum", in(t), in(cube), inout(s),
		          [](auto v, auto c, long *x) { *x = std::accumulate(v.begin(), v.end(), c(1, 2, 3)); });
		rt.submit("use", scratch(t), [](auto v) { v[9] = -1; });
	}
	EXPECT(sum == 50);
}

static void const_data_are_read()
{
	heddle::runtime rt(small());
	const std::vector<int> v{1, 2, 3};
	int sum = 0;
	{
		heddle::data x(rt, v);
		heddle::data s(rt, sum);
		static_assert(std::is_same_v<decltype(x), heddle::data<const int, 1>>);
		rt.submit("sum", in(x), out(s), [](auto e, int *t) { *t = e[0] + e[1] + e[2]; });
	}
	EXPECT(sum == 6);
}

static void captures_live_as_long_as_the_task()
{
	heddle::runtime rt(small());
	auto shared = std::make_shared<int>(5);
	int sum = 0;
	heddle::data s(rt, sum);
	rt.submit("shared", inout(s), [shared](int *x) { *x += *shared; });
	rt.submit("text", inout(s), [text = std::string(100, 'x')](int *x) { *x += static_cast<int>(text.size()); });
	rt.submit("unique", inout(s), [p = std::make_unique<int>(7)](int *x) { *x += *p; });
	struct alignas(64) wide {
		int value;
	};
	rt.submit("wide", inout(s), [w = wide{8}](int *x) {
		EXPECT(reinterpret_cast<std::uintptr_t>(&w) % 64 == 0);
		*x += w.value;
	});
	rt.wait();
	EXPECT(shared.use_count() == 1);
	EXPECT(*s.acquire_read() == 5 + 100 + 7 + 8);
}

static void captures_are_destroyed_if_the_kernel_never_runs()
{
	heddle::runtime rt(small());
	auto shared = std::make_shared<int>(5);
	int x = 0;
	heddle::data d(rt, x);
	rt.submit("fail", inout(d), [](int *) { throw std::runtime_error("no value"); });
	rt.submit("cancelled", inout(d), [shared](int *) {});
	thrown_by<std::runtime_error>([&] { rt.wait(); });
	EXPECT(shared.use_count() == 1);
	/* refused: there is no such worker */
	heddle::error e = thrown_by<heddle::error>([&] { rt.submit("nowhere", heddle::on(99), [shared] {}); });
	EXPECT(e.status() == HEDDLE_E_INVALID && shared.use_count() == 1);
	thrown_by<heddle::error>([&] { d.unregister(); }); /* it was never computed */
}

template <class T> static bool is_aligned(const T &x)
{
	return reinterpret_cast<std::uintptr_t>(std::launder(&x)) % alignof(T) == 0;
}

static void captures_are_aligned()
{
	struct alignas(64) line {
		char text[64];
	};
	heddle::runtime rt(small());
	int n = 0;
	{
		heddle::data d(rt, n);
		for (int i = 0; i < 4; i++) {
			long double wide = i;
			line wider = {};
			std::vector<heddle::handle<int, 0>> all(static_cast<std::size_t>(i % 2), d);
			auto sees_wide = [wide, i](auto, int *sum) { *sum += is_aligned(wide) && wide == i; };
			auto sees_wider = [wider](int *sum) { *sum += 10 * is_aligned(wider) + wider.text[63]; };
			static_assert(heddle::detail::is_value<decltype(sees_wide)>);
			static_assert(!heddle::detail::is_value<decltype(sees_wider)>);
			rt.submit("wide", in(std::as_const(all)), inout(d), sees_wide);
			rt.submit("wider", inout(d), sees_wider);
		}
	}
	EXPECT(n == 44);
}

static void virtual_time_runs_no_kernels()
{
	heddle::settings s = small();
	auto shared = std::make_shared<int>(5);
	s.platform = "westmere-c2050";
	heddle::runtime rt(s);
	int x = 3;
	heddle::data d(rt, x);
	heddle::error e = thrown_by<heddle::error>([&] { rt.submit("unknown", inout(d), [](int *) {}); });
	EXPECT(e.status() == HEDDLE_E_NO_WORKER);
	rt.submit("dpotrf", inout(d), [shared](int *v) { *v = 4; });
	rt.wait();
	EXPECT(shared.use_count() == 1 && x == 3);
}

static void fill(heddle::span<int> v)
{
	std::fill(v.begin(), v.end(), 6);
}

static void functions_are_kernels_too()
{
	heddle::runtime rt(small());
	std::vector<int> v(3);
	heddle::data x(rt, v);
	rt.submit("fill", out(x), fill);
	rt.submit("fill again", out(x), &fill);
	EXPECT(x.acquire_read()[2] == 6);
}

template <class Number> static void add_one(heddle::runtime &rt, heddle::data<Number, 0> &d)
{
	rt.submit("add one", inout(d), [](auto *x) { *x += 1; });
}

static void codelets_belong_to_one_runtime_each()
{
	int a = 0, b = 0;
	float c = 0;
	for (int i = 0; i < 3; i++) {
		heddle::runtime first(small()), second(small());
		heddle::data x(first, a);
		heddle::data y(second, b);
		heddle::data z(second, c);
		for (int k = 0; k < 5; k++) {
			add_one(first, x);
			add_one(second, y);
			add_one(second, z);
		}
	}
	EXPECT(a == 15 && b == 15 && c == 15.0f);
}

static void threads_submit_at_once()
{
	heddle::runtime rt(small());
	std::array<long, 4> counts{};
	{
		std::vector<heddle::data<long, 0>> all;
		for (long &n : counts)
			all.emplace_back(rt, n);
		std::vector<std::thread> threads;
		for (auto &d : all)
			threads.emplace_back([&] {
				for (int i = 0; i < 200; i++)
					rt.submit("count", inout(d), [](long *n) { ++*n; });
			});
		for (std::thread &t : threads)
			t.join();
	}
	for (long n : counts)
		EXPECT(n == 200);
}

static void options_say_where_when_and_after_whom()
{
	heddle::runtime rt(small());
	std::vector<int> order;
	heddle::task gate = rt.async("gate", [] {});
	heddle::task first = rt.async("first", after(gate), heddle::priority(-3), [&] { order.push_back(1); });
	heddle::task second =
	    rt.async("second", after(first), heddle::named("the second"), [&] { order.push_back(2); });
	rt.submit("third", after(second), heddle::on(0), [&](heddle::context c) {
		EXPECT(c.worker() == 0);
		order.push_back(3);
	});
	second.wait();
	EXPECT(first.done() && second.done());
	rt.wait();
	EXPECT((order == std::vector<int>{1, 2, 3}));
}

static void the_program_borrows_data()
{
	heddle::runtime rt(small());
	double x = 1;
	std::vector<int> v{1, 2, 3};
	heddle::data a(rt, x);
	heddle::data b(rt, v);
	a.set_name("a");
	b.prefetch(0);
	*a.acquire() += 1;
	rt.submit("double", inout(a), [](double *y) { *y *= 2; });
	EXPECT(*a.acquire_read() == 4);
	b.acquire_write()[1] = 9;
	{
		auto held = b.acquire();
		EXPECT(held->size() == 3 && (*held)[1] == 9);
		EXPECT(thrown_by<heddle::error>([&] { b.unregister(); }).status() == HEDDLE_E_STATE);
	}
	heddle::data moved = std::move(b);
	EXPECT(moved.acquire_read()[1] == 9);
	moved.unregister();
	EXPECT(v[1] == 9);
}

static void an_empty_vector_has_a_value()
{
	heddle::runtime rt(small());
	std::vector<double> v;
	heddle::data x(rt, v);
	std::size_t n = 1;
	rt.submit("size", in(x), [&n](auto y) { n = y.size(); });
	x.unregister();
	rt.wait();
	EXPECT(n == 0);
}

static void external_tasks_end_by_their_event()
{
	heddle::runtime rt(small());
	int x = 1;
	heddle::data d(rt, x);
	auto kept = std::make_shared<int>(7);
	std::weak_ptr<int> alive = kept;
	std::optional<heddle::event> event;
	std::atomic<int> begun{0};
	rt.outside(inout(d), heddle::priority(1), [&x, &event, &begun, kept = std::move(kept)](heddle::event e) {
		x += *kept;
		event = std::move(e);
		begun = 1;
	});
	rt.submit("double", inout(d), [](int *y) { *y *= 2; });
	while (!begun)
		std::this_thread::yield();
	event->fulfill();
	rt.wait();
	EXPECT(alive.expired());
	d.unregister();
	EXPECT(x == 16);
	rt.outside([](heddle::event) {});
	bool failed = false;
	try {
		rt.wait();
	} catch (const heddle::error &) {
		failed = true;
	}
	EXPECT(failed);
}

static void values_are_forgotten_and_copied_while_workers_pause()
{
	heddle::runtime rt(small());
	std::vector<double> v{1, 2}, w{0, 0};
	heddle::data x(rt, v), y(rt, w);
	rt.pause();
	rt.submit("add", inout(x), [](auto a) { a[0] += 1; });
	y.copy_from(x);
	heddle::task copied = rt.async("seen", in(y), [](auto) {});
	rt.submit("add", heddle::unordered(inout(x)), after(copied), [](auto a) { a[0] += 1; });
	rt.resume();
	rt.wait();
	x.forget();
	rt.submit("fill", out(x), [](auto a) { a[0] = a[1] = 5; });
	rt.wait();
	x.unregister();
	y.unregister();
	EXPECT(v[0] == 5 && w[0] == 2 && w[1] == 2);
}

int main()
{
	return run_tests({
	    TEST(values_are_forgotten_and_copied_while_workers_pause),
	    TEST(external_tasks_end_by_their_event),
	    TEST(views_are_of_the_data),
	    TEST(matrices_have_a_leading_dimension_and_tiles),
	    TEST(pieces_that_are_not_there_are_refused),
	    TEST(tasks_take_ranges_of_data),
	    TEST(blocks_with_a_halo_can_only_be_read),
	    TEST(tiles_with_a_halo_can_only_be_read),
	    TEST(reductions_combine_what_tasks_contribute),
	    TEST(extremes_of_nothing_are_neutral),
	    TEST(temporaries_are_allocated_by_tasks),
	    TEST(const_data_are_read),
	    TEST(captures_live_as_long_as_the_task),
	    TEST(captures_are_destroyed_if_the_kernel_never_runs),
	    TEST(captures_are_aligned),
	    TEST(virtual_time_runs_no_kernels),
	    TEST(functions_are_kernels_too),
	    TEST(codelets_belong_to_one_runtime_each),
	    TEST(threads_submit_at_once),
	    TEST(options_say_where_when_and_after_whom),
	    TEST(the_program_borrows_data),
	    TEST(an_empty_vector_has_a_value),
	});
}
