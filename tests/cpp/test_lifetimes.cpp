// Objects that are destroyed after their runtime has been closed, or destroyed: it has ended them.
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>
#include "expect.hpp"

/* One object of each kind. Those that are not made in a block of their own outlive the runtime. */
struct objects {
	std::vector<long> v = std::vector<long>(90), w = std::vector<long>(12);
	long n = 0;
	heddle::data<long, 1> vector, cut;
	heddle::data<long, 0> value;
	heddle::data<long, 2> temporary;
	heddle::pieces<long, 1> thirds;
	std::vector<heddle::handle<long, 1>> handles;
	heddle::group group;
	heddle::task done, in_group, none;
	std::optional<heddle::borrowed<const long, 0>> borrowed;
	heddle::data<long, 0> moved;

	explicit objects(heddle::runtime &rt)
	    : vector(rt, v), cut(rt, w), value(rt, n), temporary(rt, 4, 5), thirds(cut.split(3)),
	      handles(thirds.begin(), thirds.end()), group(rt), moved(std::move(value))
	{
		for (const auto &third : thirds)
			rt.submit("fill", out(third), [](auto x) { std::fill(x.begin(), x.end(), 2); });
		rt.submit("fill", out(temporary), [](auto t) { t(3, 4) = 1; });
		done = rt.async("count", out(vector), [](auto x) { std::iota(x.begin(), x.end(), 1); });
		in_group = group.async("add", in(temporary), inout(moved), [](auto t, long *x) { *x += t(3, 4); });
		group.wait();
		borrowed.emplace(moved.acquire_read());
	}
};

template <class F> static void is_refused(F f)
{
	heddle::error e = thrown_by<heddle::error>(f);
	EXPECT(e.status() == HEDDLE_E_STATE);
	EXPECT(std::string(e.what()).find("the runtime has been closed") != std::string::npos);
}

/* What the objects do when the runtime has been closed. */
static void expect_ended(objects &o)
{
	EXPECT(o.v[0] == 1 && o.v[89] == 90 && o.w[0] == 2 && o.w[11] == 2 && o.n == 1 && **o.borrowed == 1);
	is_refused([&] { o.vector.unregister(); });
	is_refused([&] { o.vector.set_name("late"); });
	is_refused([&] { o.vector.prefetch(0); });
	is_refused([&] { o.vector.acquire(); });
	is_refused([&] { o.vector.acquire_read(); });
	is_refused([&] { o.temporary.acquire_write(); });
	is_refused([&] { o.moved.set_reduction(heddle::sum()); });
	is_refused([&] { o.vector.split(2); });
	is_refused([&] { o.vector.split_halo(2, 1); });
	is_refused([&] { o.temporary.tiles(2, 2); });
	is_refused([&] { o.temporary.tiles_halo(2, 2, 1, 1); });
	is_refused([&] { o.handles[1].acquire(); });
	is_refused([&] { o.done.wait(); });
	is_refused([&] { heddle::after(o.done); });
	is_refused([&] { o.group.wait(); });
	is_refused([&] { o.group.submit("late", [] {}); });
	is_refused([&] { static_cast<void>(o.group.async("late", [] {})); });
	EXPECT(o.done.done() && o.in_group.done());
}

static void objects_end_when_their_runtime_is_closed()
{
	heddle::runtime rt(small());
	objects o(rt);
	rt.close();
	expect_ended(o);
	is_refused([&] { rt.wait(); });
	is_refused([&] { rt.submit("late", in(o.vector), [](auto) {}); });
	is_refused([&] { rt.now(); });
	is_refused([&] { heddle::data<long, 1> late(rt, 3); });
	is_refused([&] { heddle::group late(rt); });
	heddle::runtime other(small());
	is_refused([&] { other.submit("foreign", in(o.vector), [](auto) {}); });
	is_refused([&] { other.submit("foreign", in(o.handles), [](auto) {}); });
}

static void objects_may_be_destroyed_after_their_runtime()
{
	for (int i = 0; i < 3; i++) {
		auto rt = std::make_unique<heddle::runtime>(small());
		auto o = std::make_unique<objects>(*rt);
		rt.reset();
		expect_ended(*o);
		auto next = std::make_unique<heddle::runtime>(small()); /* perhaps where the first was */
		expect_ended(*o);
		o.reset();
		next->wait();
	}
}

/* An object of one runtime takes the place of one of another. */
static void objects_move_between_runtimes()
{
	long a = 1, b = 2;
	heddle::runtime rt(small());
	heddle::data x(rt, a);
	{
		heddle::runtime short_lived(small());
		heddle::data y(short_lived, b);
		y = std::move(x);
		x.unregister();
		EXPECT(x.get() == nullptr);
		x = std::move(y);
	}
	rt.submit("add", inout(x), [](long *v) { ++*v; });
	x.unregister();
	EXPECT(a == 2 && b == 2);
}

int main()
{
	return run_tests({
	    TEST(objects_end_when_their_runtime_is_closed),
	    TEST(objects_may_be_destroyed_after_their_runtime),
	    TEST(objects_move_between_runtimes),
	});
}
