/* Tasks, their accesses and options, and the context of kernels. Part of heddle.hpp. */
#ifndef HEDDLE_CPP_TASK_HPP
#define HEDDLE_CPP_TASK_HPP

#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <heddle/cpp/view.hpp>

namespace heddle
{

/* A task for which the program waits, or which it names in `after`. */
class task
{
public:
	task() noexcept = default;
	explicit task(heddle_task *t, detail::lifetime runtime = {}) noexcept /* takes over the reference to `t` */
	    : task_(t, release{std::move(runtime)})
	{
	}
	void wait() const { detail::check(heddle_task_wait(open())); } /* throws if the task has failed. Blocks */
	bool done() const noexcept { return task_.get_deleter().runtime.is_over() || heddle_task_done(get()) != 0; }
	heddle_task *get() const noexcept { return task_.get(); }
	heddle_task *open() const { return task_.get_deleter().runtime.check(get()); } /* throws after its runtime */

private:
	struct release {
		detail::lifetime runtime;
		void operator()(heddle_task *t) const
		{
			if (!runtime.is_over())
				heddle_task_release(t);
		}
	};
	std::unique_ptr<heddle_task, release> task_;
};

/* An event, before which its task does not end: heddle/event.h. The event must be fulfilled; if it is destroyed before,
 * its task fails. May be moved to any thread. */
class event
{
public:
	event(heddle_runtime *rt, heddle_event *e) : shared_(detail::runtimes::all().of(rt)), event_(e) {}
	event(event &&other) noexcept : shared_(other.shared_), event_(std::exchange(other.event_, nullptr)) {}
	event &operator=(event &&other) noexcept
	{
		std::swap(shared_, other.shared_);
		std::swap(event_, other.event_);
		return *this;
	}
	~event()
	{
		if (event_ && !shared_->why_over())
			heddle_event_fail(event_, -1, "an event was destroyed and never fulfilled");
	}
	void fulfill() { detail::check(heddle_fulfill(take(), 0)); }
	/* Makes the task fail: a wait throws the exception. */
	void fail(const std::exception_ptr &e)
	{
		int code = shared_->keep(e);
		std::string why = detail::what_of(e);
		detail::check(heddle_event_fail(take(), code, "%s", why.c_str()));
	}

private:
	heddle_event *take() { return std::exchange(event_, detail::lifetime(shared_).check<heddle_event>(nullptr)); }

	std::shared_ptr<detail::shared> shared_;
	heddle_event *event_;
};

namespace detail
{
/* What begins an external task: heddle_outside. */
template <class Begin> struct outside_call {
	heddle_runtime *rt;
	Begin begin;
	static void run(heddle_event *e, void *arg) noexcept
	{
		outside_call &self = *static_cast<outside_call *>(arg);
		event ends(self.rt, e);
		Begin begin = std::move(self.begin); /* the task, and `self` with it, may end during the call */
		begin(std::move(ends));
	}
};
} // namespace detail

/* The context, which a kernel may take as its first parameter, before its views. Valid until the kernel returns. */
class context
{
public:
	explicit context(heddle_context *c) noexcept : context_(c) {}
	unsigned worker() const { return heddle_context_worker(context_); }
	heddle_context *get() const noexcept { return context_; }
	/* Makes an event; the task will not end before the event is fulfilled: heddle_detach. */
	event detach() const
	{
		heddle_runtime *rt = heddle_context_runtime(context_);
		detail::runtimes::all().of(rt); /* may throw, while there is no event */
		heddle_event *e = heddle_detach(context_);
		if (!e)
			throw error(HEDDLE_E_STATE, heddle_last_error());
		return {rt, e};
	}

private:
	heddle_context *context_;
};

template <class T, unsigned Rank> class handle;

namespace detail
{

struct option {
	heddle_item item;
};
template <class T, unsigned Rank> struct access {
	using parameter = typename view_of<T, Rank>::type;
	heddle_item item;
	static parameter fetch(heddle_context *c, std::size_t &at, const std::size_t *&)
	{
		return view_in<T, Rank>(c, at++);
	}
};
template <class T, unsigned Rank, class Range> struct access_list {
	using parameter = views<T, Rank>;
	const Range *range;
	heddle_mode mode;
	static parameter fetch(heddle_context *c, std::size_t &at, const std::size_t *&counts)
	{
		std::size_t first = std::exchange(at, at + *counts);
		return {c, first, *counts++};
	}
};

template <class T, unsigned Rank> handle<T, Rank> as_handle(const handle<T, Rank> &);
template <class X> using handle_of = decltype(as_handle(std::declval<const X &>()));

template <bool Writes, class T, unsigned Rank> auto make_access(heddle_mode mode, const handle<T, Rank> &h)
{
	static_assert(!Writes || !std::is_const_v<T>, "this datum can only be read: in(...)");
	using seen = std::conditional_t<Writes, T, const T>;
	return access<seen, Rank>{heddle_access(mode, h.open())};
}
template <bool Writes, class Range, class H = handle_of<decltype(*std::begin(std::declval<const Range &>()))>>
auto make_access(heddle_mode mode, const Range &range)
{
	using T = typename H::element_type;
	static_assert(!Writes || !std::is_const_v<T>, "these data can only be read: in(...)");
	return access_list<std::conditional_t<Writes, T, const T>, H::rank, Range>{&range, mode};
}

/* An access refers to its argument, which must therefore still exist when the task is submitted. A temporary handle is
 * allowed, because its datum does not end with the handle. */
template <class X> inline constexpr bool is_handle = false;
template <class T, unsigned Rank> inline constexpr bool is_handle<handle<T, Rank>> = true;
template <class D> struct lasting {
	static_assert(std::is_lvalue_reference_v<D> || is_handle<std::decay_t<D>>,
	              "these data end with the statement, perhaps before the task is submitted: give them a name");
	using type = D;
};
template <class D> using lasting_t = typename lasting<D>::type;

} // namespace detail

/* The accesses of a task: to a datum, or to all data of a range (a container of data, of handles, or `pieces`). */
template <class D, class = detail::lasting_t<D>> auto in(D &&data) /* reads */
{
	return detail::make_access<false>(HEDDLE_R, data);
}
template <class D, class = detail::lasting_t<D>>
auto out(D &&data) /* writes the whole datum: its old value is undefined in the kernel */
{
	return detail::make_access<true>(HEDDLE_W, data);
}
template <class D, class = detail::lasting_t<D>> auto inout(D &&data) /* reads and writes */
{
	return detail::make_access<true>(HEDDLE_RW, data);
}
template <class D, class = detail::lasting_t<D>>
auto commute(D &&data) /* reads and writes, in any order with other tasks that commute */
{
	return detail::make_access<true>(HEDDLE_COMMUTE, data);
}
template <class D, class = detail::lasting_t<D>>
auto scratch(D &&data) /* a buffer of the datum's shape, for the time of the task */
{
	return detail::make_access<true>(HEDDLE_SCRATCH, data);
}
template <class D, class = detail::lasting_t<D>>
auto reduce(D &&data) /* adds to a sum, or another reduction: data::set_reduction */
{
	return detail::make_access<true>(HEDDLE_REDUX, data);
}

namespace detail
{
/* An access that neither waits for other tasks nor is waited for, unordered(inout(x)): heddle_unordered. */
template <class T, unsigned Rank> access<T, Rank> unordered(access<T, Rank> access)
{
	return {heddle_unordered(access.item)};
}
} // namespace detail
using detail::unordered;

/* Options of a task. */
inline detail::option priority(int p) /* larger is more urgent */
{
	return {heddle_priority(p)};
}
inline detail::option on(unsigned worker) /* only this worker may run it */
{
	return {heddle_on(worker)};
}
inline detail::option named(const char *name) /* a name of the task itself, which is copied */
{
	return {heddle_named(name)};
}
inline detail::option after(const task &t) /* the task waits for `t`, and is cancelled if `t` fails */
{
	return {heddle_after(t.open())};
}
detail::option after(const task &&t) = delete; /* a temporary task ends with the statement: give it a name */

/* The name of a codelet: a string literal. Another string must be converted explicitly, `heddle::codelet_name(p)`, and
 * must live and not change until the program ends. */
class codelet_name
{
public:
	template <std::size_t N> constexpr codelet_name(const char (&literal)[N]) noexcept : name_(literal) {}
	template <std::size_t N> codelet_name(char (&buffer)[N]) = delete;
	template <class P, std::enable_if_t<std::is_same_v<P, const char *>, int> = 0>
	constexpr explicit codelet_name(P name) noexcept : name_(name)
	{
	}
	constexpr const char *get() const noexcept { return name_; }

private:
	const char *name_;
};

namespace detail
{

template <class Arg> inline constexpr bool is_list = false;
template <class T, unsigned Rank, class Range> inline constexpr bool is_list<access_list<T, Rank, Range>> = true;

/* How a kernel is stored in its task: as a value, if its bytes can be copied, otherwise on the heap. gcc 12 does not
 * recognise all trivially copyable lambdas. */
template <class Kernel>
inline constexpr bool
    is_value = std::is_trivially_copy_constructible_v<Kernel> &&std::is_trivially_destructible_v<Kernel> &&
               alignof(Kernel) <= alignof(std::max_align_t);

/* The C function of a kernel with parameters for `Access...`. */
template <class Kernel, class... Access> struct entry {
	static int run(heddle_context *c) noexcept
	{
		try {
			const void *value = heddle_value_ptr(c, 0);
			call(c, is_value<Kernel> ? *static_cast<const Kernel *>(value)
			                         : **static_cast<Kernel *const *>(value));
			return 0;
		} catch (...) {
			return fail(c, std::current_exception());
		}
	}

private:
	static void call(heddle_context *c, const Kernel &kernel)
	{
		[[maybe_unused]] const std::size_t *counts = nullptr;
		[[maybe_unused]] std::size_t at = 0;
		if constexpr ((is_list<Access> || ...))
			counts = static_cast<const std::size_t *>(heddle_value_ptr(c, 1));
		/* Braces: the parameters are made from left to right. */
		std::tuple<typename Access::parameter...> views{Access::fetch(c, at, counts)...};
		if constexpr (std::is_invocable_v<const Kernel &, typename Access::parameter...>)
			std::apply(kernel, std::move(views));
		else
			std::apply(kernel, std::tuple_cat(std::tuple(context(c)), std::move(views)));
	}
};

template <class X> inline constexpr bool is_access = false;
template <class T, unsigned Rank> inline constexpr bool is_access<access<T, Rank>> = true;
template <class T, unsigned Rank, class Range> inline constexpr bool is_access<access_list<T, Rank, Range>> = true;

/* No context: only a parameter of any type takes it. */
struct anything {
};

/* Static assertions about the type of a kernel. */
template <class Kernel, class... Access> constexpr void check_kernel()
{
	static_assert((is_access<Access> && ...),
	              "data are given as in(x), out(x), inout(x) ...; the kernel comes last");
	if constexpr ((is_access<Access> && ...)) {
		using alone = std::is_invocable<const Kernel &, typename Access::parameter...>;
		using with_context = std::is_invocable<const Kernel &, context, typename Access::parameter...>;
		static_assert(
		    alone::value || with_context::value,
		    "the kernel comes last, is not mutable, and takes one view per access, in their order, of "
		    "const elements for in(...); a heddle::context may come before them");
		if constexpr (!alone::value && with_context::value)
			static_assert(!std::is_invocable_v<const Kernel &, anything, typename Access::parameter...>,
			              "the kernel has one parameter more than there are accesses; one for the context "
			              "must be declared as heddle::context");
		if constexpr (alone::value)
			static_assert(
			    std::is_void_v<std::invoke_result_t<const Kernel &, typename Access::parameter...>>,
			    "nobody would get what the kernel returns");
		else if constexpr (with_context::value)
			static_assert(std::is_void_v<
			                  std::invoke_result_t<const Kernel &, context, typename Access::parameter...>>,
			              "nobody would get what the kernel returns");
	}
}

/* The accesses among the arguments of a submission. */
template <class... X> struct list {
};
template <class List, class... Arg> struct accesses {
	using type = List;
};
template <class... X, class First, class... Rest>
struct accesses<list<X...>, First, Rest...>
    : accesses<std::conditional_t<std::is_same_v<First, option>, list<X...>, list<X..., First>>, Rest...> {
};

template <class Arg> void add_items(std::vector<heddle_item> &items, std::vector<std::size_t> &counts, const Arg &arg)
{
	if constexpr (is_list<Arg>) {
		std::size_t before = items.size();
		for (const auto &h : *arg.range)
			items.push_back(heddle_access(arg.mode, h.open()));
		counts.push_back(items.size() - before);
	} else {
		items.push_back(arg.item);
	}
}

/* A kernel on the heap. */
template <class Kernel> void destroy(void *kernel, int)
{
	delete static_cast<Kernel *>(kernel);
}

} // namespace detail

} // namespace heddle

#endif
