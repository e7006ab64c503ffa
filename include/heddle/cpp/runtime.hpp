/* The runtime, which turns lambdas into tasks, and groups of tasks. Part of heddle.hpp. */
#ifndef HEDDLE_CPP_RUNTIME_HPP
#define HEDDLE_CPP_RUNTIME_HPP

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <heddle/cpp/task.hpp>

namespace heddle
{

/* All settings, with their values from the environment and the configuration file, to be changed by the program. */
struct settings : heddle_config {
	settings() : heddle_config() { detail::check(heddle_config_init(this)); }
};

class runtime
{
public:
	runtime() : runtime(settings()) {}
	explicit runtime(const settings &s)
	{
		detail::check(heddle_start(&s, &rt_));
		try {
			shared_ = detail::runtimes::all().of(rt_);
		} catch (...) {
			heddle_stop(rt_);
			throw;
		}
		static std::atomic<std::uint64_t> n{0};
		id_ = ++n;
	}
	runtime(const runtime &) = delete;
	runtime &operator=(const runtime &) = delete;
	/* Waits for all tasks. Errors that no wait has reported are lost: call `wait` or `close` first. */
	~runtime() { stop(); }

	/* Stops the runtime before its destructor does, and throws the first error that no wait has reported. Objects
	 * of the runtime (data, groups, tasks) end with it, whatever `close` throws: the program's memory has the
	 * newest values, functions of the objects throw a heddle::error with the status HEDDLE_E_STATE, and their
	 * destructors do nothing. In a kernel, a callback or a child of fork `close` throws HEDDLE_E_STATE, and nothing
	 * has changed. No other thread may use the runtime or its objects meanwhile. If on_wait (struct heddle_config)
	 * wants the wait to end, tasks that have not begun are cancelled, as heddle_stop says. Blocks. */
	void close()
	{
		if (std::exception_ptr first = stop())
			std::rethrow_exception(first);
	}

	/* Waits until all tasks have ended; throws the first error among tasks without a group. Blocks. */
	void wait()
	{
		int status = heddle_wait_all(open());
		if (status == HEDDLE_E_INTERRUPTED) /* the next call of `wait` will throw the errors */
			detail::throw_error(status);
		std::exception_ptr first = first_error(status);
		shared_->forget_old();
		if (first)
			std::rethrow_exception(first);
	}

	/* Submits a task: accesses and options in any order, then the kernel, which gets a view of each datum, in the
	 * order of the accesses. Blocks while the window is full, as heddle_submit does. */
	template <class... Arg> void submit(codelet_name name, Arg &&...arg)
	{
		submit_items(name, std::forward_as_tuple(std::forward<Arg>(arg)...), last<sizeof...(Arg)>());
	}
	/* Submits a task as `submit` does; returns the task. */
	template <class... Arg> [[nodiscard]] task async(codelet_name name, Arg &&...arg)
	{
		heddle_task *t = nullptr;
		submit(name, detail::option{heddle_out(&t)}, std::forward<Arg>(arg)...);
		return task(t, lifetime());
	}

	/* Submits an external task: when its turn has come and its data are in main memory, `begin` gets the event that
	 * ends the task (heddle_outside). Accesses and options in any order, then `begin`, which must not throw. */
	template <class... Arg> void outside(Arg &&...arg)
	{
		submit_outside(std::forward_as_tuple(std::forward<Arg>(arg)...), last<sizeof...(Arg)>());
	}

	/* Workers begin no task until `resume` has been called as often as `pause`: heddle_pause. */
	void pause() const { detail::check(heddle_pause(open())); }
	void resume() const { detail::check(heddle_resume(open())); }

	double now() const { return heddle_now(open()); }    /* us since the start */
	heddle_runtime *get() const noexcept { return rt_; } /* NULL if the runtime has been closed */
	/* throws if the runtime has been closed */
	heddle_runtime *open() const { return rt_ ? rt_ : lifetime().check(rt_); }
	/* the life that its objects refer to */
	detail::lifetime lifetime() const noexcept { return detail::lifetime(shared_); }

	/* For the other classes. codelet: the codelet of a C kernel, which is made if there is none. postpone: keeps an
	 * error that the next `wait` throws. */
	heddle_codelet *codelet(const char *name, heddle_kernel kernel)
	{
		std::lock_guard<std::mutex> guard(lock_);
		heddle_codelet *&found = codelets_[{kernel, name}];
		if (!found) {
			heddle_codelet_desc desc = {};
			desc.name = name;
			desc.cpu = kernel;
			detail::check(heddle_codelet_create(open(), &desc, &found));
		}
		return found;
	}
	void postpone(int status) noexcept
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (!postponed_)
			postponed_ = error_of(status);
	}
	/* To be called by a destructor that could not wait for the tasks that use `what`, and has given them up. */
	void postpone_given_up(int status, const char *what) noexcept
	{
		std::lock_guard<std::mutex> guard(lock_);
		given_up_ = given_up_ ? given_up_ : given_up(status, what);
	}

private:
	/* The first error, if `status` is the status of a wait for all tasks. If tasks have been given up, this is the
	 * first error, since it is the reason why other tasks are cancelled. */
	std::exception_ptr first_error(int status) noexcept
	{
		std::exception_ptr waited = status ? error_of(status) : nullptr;
		std::lock_guard<std::mutex> guard(lock_);
		std::exception_ptr first = given_up_ ? given_up_ : waited ? waited : postponed_;
		given_up_ = postponed_ = nullptr;
		return first;
	}
	static std::exception_ptr given_up(int status, const char *what) noexcept
	{
		try {
			throw error(status, std::string("the destructor of ") + what +
			                        " could not wait for the tasks that use it, and those that had not "
			                        "begun were cancelled. Call `wait` of a group, or `unregister` of a "
			                        "datum, before the end of the block: they throw this error. It is: " +
			                        heddle_last_error());
		} catch (...) {
			return std::current_exception();
		}
	}
	/* Returns the first error that no wait has reported. */
	std::exception_ptr stop() noexcept
	{
		if (!rt_)
			return nullptr;
		int status = heddle_stop(rt_);
		if (status == HEDDLE_E_STATE) /* nothing has changed */
			return error_of(status);
		std::exception_ptr first = first_error(status);
		shared_->end();
		detail::runtimes::all().forget(std::exchange(rt_, nullptr));
		return first;
	}
	template <class Args, std::size_t... I> void submit_outside(Args &&args, std::index_sequence<I...>)
	{
		using begin = std::decay_t<std::tuple_element_t<sizeof...(I), std::decay_t<Args>>>;
		using call = detail::outside_call<begin>;
		auto copy = std::make_unique<call>(call{open(), std::get<sizeof...(I)>(std::move(args))});
		call *address = copy.get();
		std::vector<heddle_item> items{heddle_outside(call::run, address),
		                               heddle_then(detail::destroy<call>, address)};
		std::vector<std::size_t> counts;
		(detail::add_items(items, counts, std::get<I>(args)), ...);
		detail::check(heddle_submit_items(open(), items.size(), items.data()));
		copy.release(); /* the task destroys it */
	}
	template <std::size_t N> static constexpr auto last()
	{
		static_assert(N > 0, "a task needs a kernel");
		return std::make_index_sequence<N - 1>();
	}
	static std::exception_ptr error_of(int status) noexcept
	{
		try {
			detail::throw_error(status);
		} catch (...) {
			return std::current_exception();
		}
	}

	template <class Args, std::size_t... I>
	void submit_items(codelet_name name, Args &&args, std::index_sequence<I...>)
	{
		using kernel = std::decay_t<std::tuple_element_t<sizeof...(I), std::decay_t<Args>>>;
		using found =
		    typename detail::accesses<detail::list<>,
		                              std::decay_t<std::tuple_element_t<I, std::decay_t<Args>>>...>::type;
		submit_kernel<kernel>(found(), name, std::get<sizeof...(I)>(std::move(args)), std::get<I>(args)...);
	}

	template <class Kernel, class... Access, class K, class... Arg>
	void submit_kernel(detail::list<Access...>, codelet_name name, K &&kernel, const Arg &...arg)
	{
		detail::check_kernel<Kernel, Access...>();
		heddle_item call = heddle_call(codelet_of<detail::entry<Kernel, Access...>>(name.get()));
		if constexpr (detail::is_value<Kernel>) {
			const Kernel &value = kernel;
			detail::check(submit_all(call, heddle_value(value), arg...));
		} else {
			auto copy = std::make_unique<Kernel>(std::forward<K>(kernel));
			Kernel *address = copy.get();
			detail::check(submit_all(call, heddle_value(address),
			                         detail::option{heddle_then(detail::destroy<Kernel>, address)},
			                         arg...));
			copy.release(); /* the task destroys it */
		}
	}

	template <class... Arg> int submit_all(const heddle_item &call, const heddle_item &value, const Arg &...arg)
	{
		if constexpr ((detail::is_list<Arg> || ...)) {
			std::vector<heddle_item> items{call, value};
			std::vector<std::size_t> counts;
			(detail::add_items(items, counts, arg), ...);
			items.push_back(heddle_bytes(counts.data(), counts.size() * sizeof counts[0]));
			return heddle_submit_items(open(), items.size(), items.data());
		} else {
			return heddle_submit(open(), call, value, arg.item...);
		}
	}

	/* The codelet of a kernel. Each thread remembers the codelet that it last used for each kernel type, and so
	 * avoids a search; `id_` is never used again, even if another runtime gets the memory of this one. */
	template <class Entry> heddle_codelet *codelet_of(const char *name)
	{
		static thread_local struct {
			std::uint64_t runtime;
			const char *name;
			heddle_codelet *codelet;
		} used = {0, nullptr, nullptr};
		if (used.runtime != id_ || used.name != name) {
			used.codelet = codelet(name, Entry::run);
			used.runtime = id_;
			used.name = name;
		}
		return used.codelet;
	}

	heddle_runtime *rt_ = nullptr;
	std::shared_ptr<detail::shared> shared_;
	std::uint64_t id_ = 0;
	std::mutex lock_;
	std::map<std::pair<heddle_kernel, std::string>, heddle_codelet *> codelets_; /* lock lock_ */
	std::exception_ptr postponed_, given_up_;                                    /* lock lock_ */
};

/* A group of tasks for which the program waits together: heddle/group.h. A kernel, too, may have a group for the tasks
 * that it submits. The destructor waits, so tasks may use objects that live longer than the group; an error that `wait`
 * has not thrown is then thrown by the next wait of the runtime. Where a wait is impossible (in a callback, in a kernel
 * that has SCRATCH or REDUX data or whose stack is full), the constructor throws. If the tasks wait for the kernel that
 * waits for them, so that the wait would never end, the tasks that have not begun are cancelled, and the next wait of
 * the runtime throws an error that says so. */
class group
{
public:
	explicit group(runtime &rt) : rt_(rt), runtime_(rt.lifetime())
	{
		detail::check(heddle_may_wait(rt.open()));
		detail::check(heddle_group_create(rt.get(), &group_));
	}
	group(const group &) = delete;
	group &operator=(const group &) = delete;
	~group()
	{
		if (runtime_.is_over())
			return;
		int status = wait_for_end();
		if (status)
			rt_.postpone(status);
		/* A task's error is reported once; an error that is reported again means that a wait is impossible. */
		while (status && (status = wait_for_end())) {
			rt_.postpone_given_up(status, "a group of tasks");
			if (heddle_group_cancel(group_) <= 0)
				break;
		}
		heddle_group_free(group_);
	}
	/* runtime::submit and runtime::async for a task of the group. */
	template <class... Arg> void submit(codelet_name name, Arg &&...arg)
	{
		rt_.submit(name, detail::option{heddle_in_group(open())}, std::forward<Arg>(arg)...);
	}
	template <class... Arg> [[nodiscard]] task async(codelet_name name, Arg &&...arg)
	{
		return rt_.async(name, detail::option{heddle_in_group(open())}, std::forward<Arg>(arg)...);
	}
	/* Waits until all tasks of the group have ended; throws the first error among them. Blocks. */
	void wait() { detail::check(heddle_group_wait(open())); }
	heddle_group *get() const noexcept { return group_; }
	/* throws if the group's runtime has been closed */
	heddle_group *open() const { return runtime_.check(group_); }

private:
	/* A destructor cannot be interrupted. */
	int wait_for_end() const noexcept
	{
		int status = HEDDLE_E_INTERRUPTED;
		while (status == HEDDLE_E_INTERRUPTED)
			status = heddle_group_wait(group_);
		return status;
	}

	runtime &rt_;
	detail::lifetime runtime_;
	heddle_group *group_ = nullptr;
};

} // namespace heddle

#endif
