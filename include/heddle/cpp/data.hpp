/* Data, in memory of the program or temporary, whole or in pieces. Part of heddle.hpp. */
#ifndef HEDDLE_CPP_DATA_HPP
#define HEDDLE_CPP_DATA_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include <heddle/cpp/runtime.hpp>

namespace heddle
{

template <class T, unsigned Rank> class pieces;

namespace detail
{

/* Releases a datum and its pieces if the program has borrowed them, and puts the pieces together. */
inline void take_back(heddle_data *d)
{
	while (heddle_release(d) == 0)
		continue;
	for (std::size_t i = 0; heddle_data *child = heddle_child(d, i); i++)
		take_back(child);
	heddle_unpartition(d);
}

} // namespace detail

/* A datum that the program has borrowed from the runtime: the program reads and writes its elements as *b, b->, b[i] or
 * b(i, j), until this object is destroyed, or the datum, or the pieces to which the datum belongs. Then the elements of
 * a borrowed temporary must not be used any more; memory of the program stays valid. */
template <class T, unsigned Rank> class borrowed
{
public:
	using view_type = typename detail::view_of<T, Rank>::type;
	borrowed(heddle_data *d, heddle_mode mode, detail::lifetime lifetime = {})
	    : view_(acquire(d, mode)), data_(d, release{std::move(lifetime)})
	{
		data_.get_deleter().lifetime.lend();
	}
	decltype(auto) operator*() const
	{
		if constexpr (Rank == 0)
			return *view_;
		else
			return (view_);
	}
	const view_type *operator->() const { return &view_; }
	T &operator[](std::size_t i) const { return view_[i]; }
	template <class... Index> T &operator()(Index... i) const { return view_(static_cast<std::size_t>(i)...); }

private:
	static view_type acquire(heddle_data *d, heddle_mode mode)
	{
		heddle_part part;
		detail::check(heddle_acquire(d, mode));
		heddle_data_part(d, 0, &part);
		return detail::view_of<T, Rank>::make(part);
	}
	struct release {
		detail::lifetime lifetime;
		void operator()(heddle_data *d) const
		{
			if (lifetime.is_over())
				return;
			lifetime.take_back();
			heddle_release(d);
		}
	};
	view_type view_;
	std::unique_ptr<heddle_data, release> data_;
};

/* A handle of a datum of elements T, of `data` or of a piece. Does not own the datum. May be copied. */
template <class T, unsigned Rank> class handle
{
	static_assert(std::is_trivially_copyable_v<T>, "Heddle copies data by their bytes; see heddle_object");

public:
	using element_type = T;
	static constexpr unsigned rank = Rank;
	explicit handle(heddle_data *d, detail::lifetime lifetime = {}) noexcept
	    : data_(d), lifetime_(std::move(lifetime))
	{
	}
	heddle_data *get() const noexcept { return data_; }
	heddle_data *open() const { return lifetime_.check(data_); } /* throws when the datum has ended */
	/* A name for traces, graphs and messages. */
	void set_name(const char *name) const { detail::check(heddle_data_set_name(open(), name)); }
	void prefetch(unsigned node) const { detail::check(heddle_prefetch(open(), node)); }

	/* Lends the datum to the program, with the newest value. After acquire_write the elements are undefined, and
	 * the program must write all of them. Blocks. */
	borrowed<const T, Rank> acquire_read() const { return {open(), HEDDLE_R, lifetime_}; }
	borrowed<T, Rank> acquire_write() const { return {open(), HEDDLE_W, lifetime_}; }
	borrowed<T, Rank> acquire() const { return {open(), HEDDLE_RW, lifetime_}; }

	/* Cuts the datum: until the pieces are destroyed, tasks use the pieces instead of the datum. */
	pieces<T, Rank> split(std::size_t n) const /* a vector, into n blocks */
	{
		static_assert(Rank == 1, "only vectors are split into blocks");
		return cut(HEDDLE_SPLIT_VECTOR, n, 1);
	}
	/* n blocks, each with up to `halo` elements of its neighbours on both sides, which can only be read. Between
	 * tasks that read such blocks and tasks that write blocks there is a barrier: see heddle_filter_kind. */
	pieces<const T, Rank> split_halo(std::size_t n, std::size_t halo) const
	{
		static_assert(Rank == 1, "only vectors are split into blocks");
		heddle_filter filter = {};
		filter.kind = HEDDLE_SPLIT_HALO;
		filter.nx = n;
		filter.halo = halo;
		return {open(), filter, n, lifetime_};
	}
	pieces<T, Rank> split_rows(std::size_t n) const /* a matrix, into n blocks of rows */
	{
		static_assert(Rank == 2, "only matrices have rows");
		return cut(HEDDLE_SPLIT_ROWS, n, 1);
	}
	pieces<T, Rank> split_columns(std::size_t n) const /* a matrix, into n blocks of columns */
	{
		static_assert(Rank == 2, "only matrices have columns");
		return cut(HEDDLE_SPLIT_COLUMNS, 1, n);
	}
	pieces<T, Rank> tiles(std::size_t rows,
	                      std::size_t columns) const /* a matrix, into tiles of at most that size */
	{
		heddle_filter filter = {};
		filter.kind = HEDDLE_SPLIT_TILES;
		return {open(), filter, in_tiles(filter, rows, columns), lifetime_};
	}
	/* Tiles, each with up to so many rows and columns of its neighbours on all sides, which can only be read. There
	 * is a barrier as for split_halo. */
	pieces<const T, Rank> tiles_halo(std::size_t rows, std::size_t columns, std::size_t halo_rows,
	                                 std::size_t halo_columns) const
	{
		heddle_filter filter = {};
		filter.kind = HEDDLE_SPLIT_HALO;
		filter.halo = halo_rows;
		filter.halo_y = halo_columns;
		return {open(), filter, in_tiles(filter, rows, columns), lifetime_};
	}

protected:
	heddle_data *data_;
	detail::lifetime lifetime_;

private:
	/* Lets the filter split into tiles of this size. Returns the number of rows of tiles. */
	std::size_t in_tiles(heddle_filter &filter, std::size_t rows, std::size_t columns) const
	{
		static_assert(Rank == 2, "only matrices have tiles");
		heddle_part part;
		detail::check(heddle_data_part(data_, 0, &part));
		filter.tile_x = rows;
		filter.tile_y = columns;
		return rows ? (part.n[0] + rows - 1) / rows : 0;
	}
	pieces<T, Rank> cut(heddle_filter_kind kind, std::size_t nx, std::size_t ny) const
	{
		heddle_filter filter = {};
		filter.kind = kind;
		filter.nx = nx;
		filter.ny = ny;
		return {open(), filter, nx, lifetime_};
	}
};

/* The pieces into which a datum is cut. The destructor, or the end of the datum, puts the datum together again, without
 * waiting: tasks submitted later may use the whole datum. Then handles of the pieces have ended, and pieces of the
 * pieces. */
template <class T, unsigned Rank> class pieces
{
public:
	pieces(heddle_data *whole, const heddle_filter &filter, std::size_t nx, const detail::lifetime &lifetime = {})
	    : nx_(nx), whole_(nullptr, unite{{lifetime, "the pieces have been put together again: use the whole"}})
	{
		std::size_t n = 0;
		detail::check(heddle_partition(whole, &filter, &n));
		whole_.reset(whole);
		for (std::size_t i = 0; i < n; i++)
			all_.emplace_back(heddle_child(whole, i), whole_.get_deleter().lifetime);
	}
	std::size_t size() const noexcept { return all_.size(); }
	/* Piece i, or tile (i, j); throws if there is none. */
	const handle<T, Rank> &operator[](std::size_t i) const { return all_[one_of(all_.size(), i, "piece")]; }
	const handle<T, Rank> &operator()(std::size_t i, std::size_t j) const
	{
		std::size_t ny = nx_ ? all_.size() / nx_ : 0;
		return all_[one_of(nx_, i, "row of pieces") + one_of(ny, j, "column of pieces") * nx_];
	}
	auto begin() const noexcept { return all_.begin(); }
	auto end() const noexcept { return all_.end(); }

private:
	struct unite {
		detail::lifetime lifetime;
		void operator()(heddle_data *d) const
		{
			if (lifetime.is_over())
				return;
			lifetime.end();
			if (lifetime.is_lent() || heddle_unpartition(d) == HEDDLE_E_STATE)
				detail::take_back(d);
		}
	};
	static std::size_t one_of(std::size_t n, std::size_t i, const char *what)
	{
		if (i >= n)
			throw error(HEDDLE_E_INVALID, std::string("there is no ") + what + ' ' + std::to_string(i) +
			                                  ", there are " + std::to_string(n));
		return i;
	}

	std::vector<handle<T, Rank>> all_;
	std::size_t nx_; /* pieces in the first dimension */
	std::unique_ptr<heddle_data, unite> whole_;
};

/* Reductions of elements, for set_reduction. A program may define others of this form. */
struct sum {
	template <class T> static T neutral() { return T(); }
	template <class T> static void combine(T &into, const T &from) { into += from; }
};
struct product {
	template <class T> static T neutral() { return T(1); }
	template <class T> static void combine(T &into, const T &from) { into *= from; }
};
struct minimum {
	template <class T> static T neutral()
	{
		using limits = std::numeric_limits<T>;
		return limits::has_infinity ? limits::infinity() : limits::max();
	}
	template <class T> static void combine(T &into, const T &from) { into = std::min(into, from); }
};
struct maximum {
	template <class T> static T neutral()
	{
		using limits = std::numeric_limits<T>;
		return limits::has_infinity ? -limits::infinity() : limits::lowest();
	}
	template <class T> static void combine(T &into, const T &from) { into = std::max(into, from); }
};

/* A datum, which lives until this object is destroyed: in the program's memory, which then has the newest value; or,
 * without memory, a temporary of tasks. The destructor puts remaining pieces together, releases what is borrowed, and
 * waits for the tasks that use the datum. Then the pieces, the borrowed objects and the handles of the datum have
 * ended: their functions throw a heddle::error whose status is HEDDLE_E_STATE, their destructors do nothing.
 *
 * In a callback, and in a kernel on an accelerator, the destructor cannot wait, and the program's memory must live
 * until the next wait of the runtime. In a kernel on a CPU that cannot wait, because it has SCRATCH or REDUX data or
 * because its stack is full, the constructor throws. If the tasks wait for the kernel itself, so that the destructor
 * would never end, the tasks that have not begun are cancelled, the memory belongs to the program again, without the
 * newest value, and the next wait of the runtime throws an error that says so. */
template <class T, unsigned Rank> class data : public handle<T, Rank>
{
	using base = handle<T, Rank>;
	using value = std::remove_const_t<T>;
	template <unsigned R> using if_rank = std::enable_if_t<Rank == R, int>;

public:
	using extents = std::array<std::size_t, Rank>;
	/* One value. */
	template <unsigned R = 0, if_rank<R> = 0> data(runtime &rt, T &x) : data(rt, &x, extents{}, extents{}) {}
	/* A vector: a std::vector, a std::array, an array, or n elements from x on. */
	template <class Container, unsigned R = 1, if_rank<R> = 0,
	          std::enable_if_t<detail::has_elements<Container>, int> = 0>
	data(runtime &rt, Container &x) : data(rt, std::data(x), std::size(x))
	{
	}
	template <unsigned R = 1, if_rank<R> = 0>
	data(runtime &rt, T *x, std::size_t n) : data(rt, x, extents{n}, extents{1})
	{
	}
	/* A column-major matrix, whose columns lie ld elements apart. */
	template <unsigned R = 2, if_rank<R> = 0>
	data(runtime &rt, T *a, std::size_t rows, std::size_t columns, std::size_t ld)
	    : data(rt, a, extents{rows, columns}, extents{1, ld})
	{
	}
	template <unsigned R = 2, if_rank<R> = 0>
	data(runtime &rt, T *a, std::size_t rows, std::size_t columns) : data(rt, a, rows, columns, rows)
	{
	}
	/* Any array; strides in elements, the first one 1. */
	data(runtime &rt, T *x, const extents &n, const extents &stride)
	    : base(nullptr, {rt.lifetime(), "the datum has ended, and its pieces and handles with it"}), rt_(&rt)
	{
		this->data_ = register_part(rt, x, n, stride);
	}
	/* A temporary of these extents, as many as its rank: the first task that writes it allocates it. */
	template <class... N,
	          std::enable_if_t<sizeof...(N) == Rank && (std::is_convertible_v<N, std::size_t> && ...), int> = 0>
	explicit data(runtime &rt, N... n) : data(rt, nullptr, extents{static_cast<std::size_t>(n)...}, dense(n...))
	{
	}

	data(data &&other) noexcept : base(std::exchange(other.data_, nullptr), other.lifetime_), rt_(other.rt_) {}
	data &operator=(data &&other) noexcept
	{
		std::swap(this->data_, other.data_);
		std::swap(this->lifetime_, other.lifetime_);
		std::swap(rt_, other.rt_);
		return *this;
	}
	~data()
	{
		if (!this->data_ || this->lifetime_.is_over())
			return;
		this->lifetime_.end();
		int status = wait_for_end();
		/* perhaps because of remaining pieces or borrowed objects */
		if (keeps_handle(status) || status == HEDDLE_E_STATE) {
			detail::take_back(this->data_);
			status = wait_for_end();
		}
		/* HEDDLE_E_STATE although a wait is allowed here: in the kernel of a task that uses the datum. */
		bool nobody_can_wait =
		    keeps_handle(status) || (status == HEDDLE_E_STATE && heddle_may_wait(rt_->get()) != HEDDLE_E_STATE);
		if (nobody_can_wait) {
			rt_->postpone_given_up(status, "a datum");
			heddle_data_give_up(this->data_);
		} else if (status == HEDDLE_E_STATE) { /* in a callback, or a kernel on an accelerator */
			heddle_unregister_async(this->data_);
		} else if (status == HEDDLE_E_DEADLOCK) { /* it has been given up */
			rt_->postpone_given_up(status, "a datum");
		}
	}
	/* Nobody needs the value any more, after the tasks submitted so far: heddle_forget. */
	void forget() { detail::check(heddle_forget(this->open())); }
	/* Takes the value of another datum with the same extents, in the order of submission: heddle_copy. */
	void copy_from(const handle<T, Rank> &other) { detail::check(heddle_copy(this->open(), other.open())); }
	/* Ends the datum before its destructor does, and throws if its value was lost or never computed. If it throws a
	 * heddle::error whose status is HEDDLE_E_STATE, HEDDLE_E_UNSUPPORTED, HEDDLE_E_MEMORY or HEDDLE_E_INTERRUPTED,
	 * the datum has not ended. Blocks. */
	void unregister()
	{
		int status = heddle_unregister(this->open());
		bool has_ended = !keeps_handle(status) && status != HEDDLE_E_STATE && status != HEDDLE_E_INTERRUPTED;
		if (has_ended && std::exchange(this->data_, nullptr)) /* not if the datum was moved from this object */
			this->lifetime_.end();
		detail::check(status);
	}

	/* Sets the operation of `reduce` on each element: a class like `sum`. To be called before the first task that
	 * reduces. */
	template <class Reduction> void set_reduction(Reduction)
	{
		heddle_data *d = this->open();
		heddle_codelet *begin = rt_->codelet("begin reduction", [](heddle_context *c) {
			auto x = detail::view_in<value, Rank>(c, 0);
			each(x, x, [](value &v, value &) { v = Reduction::template neutral<value>(); });
			return 0;
		});
		heddle_codelet *combine = rt_->codelet("combine", [](heddle_context *c) {
			each(detail::view_in<value, Rank>(c, 0), detail::view_in<value, Rank>(c, 1),
			     [](value &into, value &from) { Reduction::combine(into, from); });
			return 0;
		});
		detail::check(heddle_data_set_reduction(d, begin, combine));
	}

private:
	/* Whether heddle_unregister has changed nothing when it returns this. */
	static bool keeps_handle(int status) { return status == HEDDLE_E_UNSUPPORTED || status == HEDDLE_E_MEMORY; }
	/* A destructor cannot be interrupted. */
	int wait_for_end() const noexcept
	{
		int status = HEDDLE_E_INTERRUPTED;
		while (status == HEDDLE_E_INTERRUPTED)
			status = heddle_unregister(this->data_);
		return status;
	}
	/* Calls f for the elements of two views of the same extents. */
	template <class View, class F> static void each(const View &a, const View &b, F f)
	{
		static_assert(Rank <= 2, "reductions are of values, vectors and matrices");
		if constexpr (Rank == 0)
			f(*a, *b);
		else if constexpr (Rank == 1)
			for (std::size_t i = 0; i < a.size(); i++)
				f(a[i], b[i]);
		else
			for (std::size_t j = 0; j < a.columns(); j++)
				for (std::size_t i = 0; i < a.rows(); i++)
					f(a(i, j), b(i, j));
	}
	template <class... N> static extents dense(N... n)
	{
		extents stride{static_cast<std::size_t>(n)...};
		std::size_t next = 1;
		for (std::size_t &s : stride)
			next *= std::exchange(s, next);
		return stride;
	}
	static heddle_data *register_part(const runtime &rt, T *x, const extents &n, const extents &stride)
	{
		/* An empty std::vector may have no memory. The datum has a value all the same, and is no temporary. */
		alignas(T) static unsigned char nothing[sizeof(T)];
		bool is_empty = std::find(n.begin(), n.end(), std::size_t(0)) != n.end();
		heddle_part part = {};
		part.base = x || !is_empty ? static_cast<void *>(const_cast<value *>(x)) : nothing;
		part.elem_size = sizeof(T);
		part.n_dims = Rank;
		std::copy(n.begin(), n.end(), part.n);
		std::copy(stride.begin(), stride.end(), part.stride);
		if (int status = heddle_may_wait(rt.open()); keeps_handle(status))
			detail::check(status); /* its destructor could not wait either */
		heddle_data *d = nullptr;
		detail::check(heddle_tensor(rt.get(), &part, &d));
		return d;
	}
	runtime *rt_;
};

/* Deduces T and the rank of a datum from the constructor's arguments. */
template <class T, std::enable_if_t<!detail::has_elements<T>, int> = 0> data(runtime &, T &) -> data<T, 0>;
template <class C, class P = decltype(std::data(std::declval<C &>()))>
data(runtime &, C &) -> data<std::remove_pointer_t<P>, 1>;
template <class T> data(runtime &, T *, std::size_t) -> data<T, 1>;
template <class T> data(runtime &, T *, std::size_t, std::size_t) -> data<T, 2>;
template <class T> data(runtime &, T *, std::size_t, std::size_t, std::size_t) -> data<T, 2>;

} // namespace heddle

#endif
