/* Errors: exceptions for the statuses of C's functions, and those that have left kernels. Part of heddle.hpp. */
#ifndef HEDDLE_CPP_ERROR_HPP
#define HEDDLE_CPP_ERROR_HPP

#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <heddle.h>

namespace heddle
{

/* What went wrong: `what()` is the sentence of heddle_last_error. */
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

/* The exceptions that have left kernels and that a wait may still report. A failed task has a code, which is the
 * kernel's return value; so heddle_last_code says which exception it is. */
class exceptions
{
public:
	static exceptions &all()
	{
		/* Not destroyed, since runtimes may end later than static objects; and not on the heap, since
		 * destructors come here, which must not throw. */
		alignas(exceptions) static unsigned char place[sizeof(exceptions)];
		static auto *one = ::new (static_cast<void *>(place)) exceptions;
		return *one;
	}
	/* Returns the code of the exception; if too many are kept already, one that stands for none. */
	int keep(const heddle_runtime *rt, const std::exception_ptr &e)
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (kept_.size() >= most)
			return first - 1;
		last_ = last_ < std::numeric_limits<int>::max() ? last_ + 1 : first;
		kept_[last_] = {rt, e, 0};
		return last_;
	}
	std::exception_ptr find(int code)
	{
		std::lock_guard<std::mutex> guard(lock_);
		auto found = kept_.find(code);
		return found == kept_.end() ? nullptr : found->second.exception;
	}
	/* A wait for all tasks of the runtime has ended: forgets those that have seen another such wait before. */
	void forget(const heddle_runtime *rt, int waits)
	{
		std::lock_guard<std::mutex> guard(lock_);
		for (auto i = kept_.begin(); i != kept_.end();)
			i = i->second.rt == rt && ++i->second.waits >= waits ? kept_.erase(i) : std::next(i);
	}

private:
	struct record {
		const heddle_runtime *rt;
		std::exception_ptr exception;
		int waits;
	};
	/* Codes begin where those of kernels written in C will hardly be. */
	static constexpr int first = 0x48000000;
	static constexpr std::size_t most = 1000;
	std::mutex lock_;
	std::map<int, record> kept_; /* lock lock_ */
	int last_ = first - 1;       /* lock lock_ */
};

[[noreturn]] inline void throw_error(int status)
{
	if (std::exception_ptr e = status == HEDDLE_E_KERNEL ? exceptions::all().find(heddle_last_code()) : nullptr)
		std::rethrow_exception(e);
	throw error(status, heddle_last_error());
}

inline void check(int status)
{
	if (status < 0)
		throw_error(status);
}

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

/* An exception has left a kernel: what the kernel's C function returns. */
inline int fail(heddle_context *c, const std::exception_ptr &e) noexcept
{
	try {
		int code = exceptions::all().keep(heddle_context_runtime(c), e);
		return heddle_fail(c, code, "%s", what_of(e).c_str());
	} catch (...) {
		return heddle_fail(c, -1, "an exception left the kernel, and there was no memory to keep it");
	}
}

} // namespace detail

} // namespace heddle

#endif
