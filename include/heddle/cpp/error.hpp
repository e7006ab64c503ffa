/* Errors: exceptions for the statuses of C's functions, and exceptions that have left kernels. Part of heddle.hpp. */
#ifndef HEDDLE_CPP_ERROR_HPP
#define HEDDLE_CPP_ERROR_HPP

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <heddle.h>

namespace heddle
{

/* An error of the library: `what()` is the sentence of heddle_last_error. */
class error : public std::runtime_error
{
public:
	error(int status, const std::string &sentence) : std::runtime_error(sentence), status_(status) {}
	int status() const noexcept { return status_; } /* an enum heddle_status */

private:
	int status_;
};

namespace detail
{

/* The life of an owner: of a runtime, a datum of the runtime, the pieces of the datum ... When an owner ends, it says
 * so here, because objects that belong to it may be destroyed later, and must then do nothing. */
class life
{
public:
	explicit life(const char *end, std::shared_ptr<life> outer = nullptr) noexcept
	    : end_(end), outer_(std::move(outer))
	{
	}
	void end() noexcept { over_ = true; }
	/* The name of the owner that has ended; NULL: it lives. */
	const char *why_over() const noexcept
	{
		for (const life *l = this; l; l = l->outer_.get())
			if (l->over_)
				return l->end_;
		return nullptr;
	}
	std::atomic<unsigned> lent{0}; /* how many objects the program has borrowed from the owner */

private:
	const char *end_;
	std::shared_ptr<life> outer_;
	std::atomic<bool> over_{false};
};

/* The part of a runtime that it shares with its objects: its life; and the exceptions that have left its kernels and
 * that a wait may still report. A failed task has a code, which is the kernel's return value, so that heddle_last_code
 * identifies the exception. */
class shared : public life
{
public:
	shared() noexcept : life("the runtime has been closed, and its objects ended with it") {}

	/* Keeps the exception and returns its code. If too many are kept, the exceptions that left kernels first stay,
	 * because the next wait for all tasks reports one of them; one of the others is forgotten: the oldest that a
	 * wait has thrown or, if no wait has thrown one, the oldest. */
	int keep(const std::exception_ptr &e)
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (kept_.size() >= most) {
			auto oldest = std::next(kept_.begin(), most / 2);
			auto thrown = std::find_if(oldest, kept_.end(), [](const auto &k) { return k.second.thrown; });
			kept_.erase(thrown != kept_.end() ? thrown : oldest);
		}
		const int code = new_code();
		kept_[code] = {e, 0, false};
		return code;
	}
	/* The exception, to be thrown; NULL: there is none. */
	std::exception_ptr find(int code)
	{
		std::lock_guard<std::mutex> guard(lock_);
		auto found = kept_.find(code);
		if (found == kept_.end())
			return nullptr;
		found->second.thrown = true;
		return found->second.exception;
	}
	/* To be called when a wait for all tasks of the runtime has ended: forgets exceptions that were kept during an
	 * earlier such wait. */
	void forget_old()
	{
		std::lock_guard<std::mutex> guard(lock_);
		for (auto i = kept_.begin(); i != kept_.end();)
			i = ++i->second.waits >= 2 ? kept_.erase(i) : std::next(i);
	}

private:
	struct record {
		std::exception_ptr exception;
		int waits;
		bool thrown;
	};
	/* A new code, unique among all runtimes. Codes begin at a number that kernels written in C will hardly
	 * return. */
	static int new_code() noexcept
	{
		constexpr unsigned first = 0x48000000,
		                   n = static_cast<unsigned>(std::numeric_limits<int>::max()) - first;
		static std::atomic<unsigned> next{0};
		return static_cast<int>(first + next++ % n);
	}
	static constexpr std::ptrdiff_t most = 1000;
	std::mutex lock_;
	std::map<int, record> kept_; /* lock lock_ */
};

/* The shared part of each runtime. */
class runtimes
{
public:
	static runtimes &all()
	{
		/* Never destroyed, since runtimes may end later than static objects; and not on the heap, since
		 * destructors call this function and must not throw. */
		alignas(runtimes) static unsigned char place[sizeof(runtimes)];
		static auto *one = ::new (static_cast<void *>(place)) runtimes;
		return *one;
	}
	/* The shared part of a runtime; for a runtime that was started in C, it is made at the first call. */
	std::shared_ptr<shared> of(const heddle_runtime *rt)
	{
		std::lock_guard<std::mutex> guard(lock_);
		std::shared_ptr<shared> &found = shared_[rt];
		if (!found)
			found = std::make_shared<shared>();
		return found;
	}
	void forget(const heddle_runtime *rt) noexcept
	{
		std::lock_guard<std::mutex> guard(lock_);
		shared_.erase(rt);
	}
	std::exception_ptr find(int code)
	{
		std::lock_guard<std::mutex> guard(lock_);
		for (const auto &one : shared_)
			if (std::exception_ptr e = one.second->find(code))
				return e;
		return nullptr;
	}

private:
	std::mutex lock_;
	std::map<const heddle_runtime *, std::shared_ptr<shared>> shared_; /* lock lock_ */
};

[[noreturn]] inline void throw_error(int status)
{
	if (std::exception_ptr e = status == HEDDLE_E_KERNEL ? runtimes::all().find(heddle_last_code()) : nullptr)
		std::rethrow_exception(e);
	throw error(status, heddle_last_error());
}

inline void check(int status)
{
	if (status < 0)
		throw_error(status);
}

/* An object's reference to the life of its owner. The end of the owner frees the C object for which the object stands,
 * so then the object does nothing any more. By default, for an object that was made in C, there is no owner. */
class lifetime
{
public:
	lifetime() noexcept = default;
	explicit lifetime(std::shared_ptr<life> l) noexcept : life_(std::move(l)) {}
	/* The life of an owner that itself belongs to the owner of `outer`; `end` is the text of the error after its
	 * end. */
	lifetime(const lifetime &outer, const char *end) : life_(std::make_shared<life>(end, outer.life_)) {}
	bool is_over() const noexcept { return life_ && life_->why_over(); }
	/* Returns `p` for a call; throws if the owner has ended. */
	template <class T> T *check(T *p) const
	{
		if (const char *why = life_ ? life_->why_over() : nullptr)
			throw error(HEDDLE_E_STATE, why);
		return p;
	}
	void end() const noexcept { life_->end(); }
	void lend() const noexcept { change_lent(1); }
	void take_back() const noexcept { change_lent(-1); }
	bool is_lent() const noexcept { return life_->lent != 0; }

private:
	void change_lent(int by) const noexcept
	{
		if (life_)
			life_->lent += static_cast<unsigned>(by);
	}

	std::shared_ptr<life> life_;
};

inline std::string what_of(const std::exception_ptr &e)
{
	try {
		std::rethrow_exception(e);
	} catch (const std::exception &known) {
		return known.what();
	} catch (...) {
		return "an exception that is no std::exception";
	}
}

/* Makes the kernel fail with an exception that has left it; returns the value for the kernel's C function. */
inline int fail(heddle_context *c, const std::exception_ptr &e) noexcept
{
	try {
		int code = runtimes::all().of(heddle_context_runtime(c))->keep(e);
		return heddle_fail(c, code, "%s", what_of(e).c_str());
	} catch (...) {
		return heddle_fail(c, -1, "an exception left the kernel, and there was no memory to keep it");
	}
}

} // namespace detail

} // namespace heddle

#endif
