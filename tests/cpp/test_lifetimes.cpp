// Objects that are destroyed after what has ended them: their runtime, which was closed or destroyed; or their datum.
#include <memory>
#include <numeric>
#include <optional>
#include <random>
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

template <class F> static void is_refused(F f, const char *why = "the runtime has been closed")
{
	heddle::error e = thrown_by<heddle::error>(f);
	EXPECT(e.status() == HEDDLE_E_STATE);
	EXPECT(std::string(e.what()).find(why) != std::string::npos);
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

/* What is of a datum, made in the block of the datum, which it outlives. */
struct of_a_datum {
	std::optional<heddle::pieces<long, 1>> thirds, halves;
	std::optional<heddle::borrowed<long, 1>> borrowed, of_a_piece;
	std::vector<heddle::handle<long, 1>> handles;

	/* Fills v through the pieces; one of them is cut itself, another one is borrowed if the program is to. */
	void cut(heddle::runtime &rt, const heddle::data<long, 1> &x, bool borrow)
	{
		thirds.emplace(x.split(3));
		halves.emplace((*thirds)[0].split(2));
		handles = {x, (*thirds)[1], (*halves)[0]};
		rt.submit("fill", out(*halves), [](auto all) {
			for (std::size_t i = 0; i < all.size(); i++)
				std::fill(all[i].begin(), all[i].end(), 1);
		});
		rt.submit("fill", out((*thirds)[1]), [](auto third) { std::fill(third.begin(), third.end(), 1); });
		rt.submit("fill", out((*thirds)[2]), [](auto third) { std::fill(third.begin(), third.end(), 1); });
		if (borrow)
			of_a_piece.emplace((*thirds)[2].acquire());
	}
	void expect_ended(heddle::runtime &rt, const char *why)
	{
		is_refused([&] { handles[1].acquire(); }, why);
		is_refused([&] { handles[2].split(2); }, why);
		is_refused([&] { rt.submit("late", in(handles[1]), [](auto) {}); }, why);
		is_refused([&] { rt.submit("late", in(*thirds), [](auto) {}); }, why);
		is_refused([&] { (*halves)[1].set_name("late"); }, why);
	}
};

/* The destructor of a datum waits for the tasks on its pieces, so that the memory may go with the datum. */
static void what_is_of_a_datum_ends_with_it()
{
	heddle::runtime rt(small());
	for (bool borrow : {false, true}) {
		of_a_datum of;
		long sum = 0;
		{
			std::vector<long> v(90);
			{
				heddle::data x(rt, v);
				of.cut(rt, x, borrow);
			}
			sum = std::accumulate(v.begin(), v.end(), 0L);
		}
		EXPECT(sum == 90);
		rt.wait(); /* nothing was given up */
		of.expect_ended(rt, "the datum has ended");
		is_refused([&] { of.handles[0].acquire(); }, "the datum has ended");
	}
	std::vector<long> v(90);
	of_a_datum of;
	heddle::data x(rt, v);
	of.borrowed.emplace(x.acquire());
	std::vector<long> w(1);
	x = heddle::data(rt, w);
	(*of.borrowed)[1] = 1; /* the program's memory is where it was */
	of.borrowed.reset();
	rt.wait();
	of.borrowed.emplace(x.acquire());
	of.borrowed.reset();
	of.handles = {x};
	x.unregister();
	is_refused([&] { x.acquire(); }, "the datum has ended");
	is_refused([&] { of.handles[0].acquire(); }, "the datum has ended");
}

static void what_is_of_pieces_ends_with_them()
{
	std::vector<long> v(90);
	heddle::runtime rt(small());
	heddle::data x(rt, v);
	for (bool borrow : {false, true}) {
		of_a_datum of;
		of.cut(rt, x, borrow);
		{
			heddle::pieces<long, 1> end(std::move(*of.thirds));
			of.handles[1].set_name("third"); /* a move ends nothing */
		}
		is_refused([&] { of.handles[1].acquire(); }, "put together again");
		is_refused([&] { (*of.halves)[1].set_name("late"); }, "put together again");
		rt.submit("more", inout(x), [](auto all) { all[0]++; });
		EXPECT(x.acquire_read()[89] == 1);
		EXPECT(x.acquire_read()[0] == 2);
	}
}

/* Makes, uses and ends data, and what is of them, at random. What has ended throws; nothing else may happen. */
class random_program
{
public:
	random_program(heddle::runtime &rt, unsigned seed) : rt_(rt), random_(seed) {}
	void step()
	{
		try {
			switch (below(9)) {
			case 0: return make();
			case 1: return end(data_, memory_);
			case 2: return add(pieces_, any(handles_).split(1 + below(3)));
			case 3: return end(pieces_, pieces_);
			case 4: handles_.push_back(*any(data_)); return;
			case 5: handles_.push_back((*any(pieces_))[0]); return;
			case 6: return add(borrowed_, any(handles_).acquire());
			case 7: return end(borrowed_, borrowed_);
			case 8: rt_.submit("add", inout(any(handles_)), [](auto x) { ++x[0]; }); return;
			}
		} catch (const heddle::error &e) {
			EXPECT(e.status() == HEDDLE_E_STATE || e.status() == HEDDLE_E_INVALID ||
			       e.status() == HEDDLE_E_DEADLOCK);
		}
	}

private:
	struct nothing_there : heddle::error {
		nothing_there() : error(HEDDLE_E_INVALID, "there is none yet") {}
	};
	std::size_t below(std::size_t n) { return random_() % n; }
	template <class T> T &any(std::vector<T> &all)
	{
		if (all.empty())
			throw nothing_there();
		return all[below(all.size())];
	}
	template <class T> static void add(std::vector<std::unique_ptr<T>> &all, T &&made)
	{
		all.push_back(std::make_unique<T>(std::move(made)));
	}
	/* Ends one, and then the memory in the same place, which a datum has. */
	template <class T, class M> void end(std::vector<T> &all, std::vector<M> &memory)
	{
		std::size_t i = static_cast<std::size_t>(&any(all) - all.data());
		all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
		if constexpr (!std::is_same_v<T, M>)
			memory.erase(memory.begin() + static_cast<std::ptrdiff_t>(i));
	}
	void make()
	{
		memory_.push_back(std::make_unique<std::vector<long>>(1 + below(40)));
		data_.push_back(std::make_unique<heddle::data<long, 1>>(rt_, *memory_.back()));
		handles_.push_back(*data_.back());
	}

	heddle::runtime &rt_;
	std::minstd_rand random_;
	std::vector<std::unique_ptr<std::vector<long>>> memory_;
	std::vector<std::unique_ptr<heddle::pieces<long, 1>>> pieces_;
	std::vector<std::unique_ptr<heddle::borrowed<long, 1>>> borrowed_;
	std::vector<heddle::handle<long, 1>> handles_;
	std::vector<std::unique_ptr<heddle::data<long, 1>>> data_; /* last: ends first */
};

static void what_is_of_a_datum_may_end_in_any_order()
{
	heddle::runtime rt(small());
	for (unsigned seed = 1; seed <= 200; seed++) {
		{
			random_program program(rt, seed);
			for (int i = 0; i < 80; i++)
				program.step();
		}
		rt.wait();
		EXPECT(heddle_selfcheck(rt.get()) == 0);
	}
}

/* What was moved from ends nothing. */
static void a_datum_that_was_moved_from_ends_nothing()
{
	std::vector<long> v(90);
	heddle::runtime rt(small());
	heddle::data x(rt, v);
	heddle::data y(std::move(x));
	thrown_by<heddle::error>([&] { x.unregister(); });
	rt.submit("fill", out(y), [](auto all) { std::fill(all.begin(), all.end(), 1); });
	y.unregister();
	EXPECT(v[89] == 1);
}

int main()
{
	return run_tests({
	    TEST(objects_end_when_their_runtime_is_closed),
	    TEST(objects_may_be_destroyed_after_their_runtime),
	    TEST(objects_move_between_runtimes),
	    TEST(what_is_of_a_datum_ends_with_it),
	    TEST(what_is_of_pieces_ends_with_them),
	    TEST(what_is_of_a_datum_may_end_in_any_order),
	    TEST(a_datum_that_was_moved_from_ends_nothing),
	});
}
