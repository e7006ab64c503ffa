/* heddle.hpp - Heddle in C++17: objects that clean up after themselves, lambdas as kernels, exceptions.
 *
 *   heddle::runtime rt;
 *   std::vector<double> a(1000, 1), b(1000, 2);
 *   heddle::data x(rt, a), y(rt, b);
 *   rt.submit("axpy", in(x), inout(y), [](auto x, auto y) {
 *           for (std::size_t i = 0; i < y.size(); i++)
 *                   y[i] += 3 * x[i];
 *   });
 *   rt.wait();
 *
 * The access mode stands in one place, `in(x)`, and decides what the kernel gets for the datum: a view of const
 * elements if it only reads, so that the compiler rejects a kernel that writes. It depends on the datum's rank: T * for
 * 0, a single value; heddle::span<T> for 1, a vector; heddle::matrix_view<T> for 2, a column-major matrix; heddle::view
 * for 3 and 4.
 *
 *   kernels     A kernel is called on a copy of the lambda, which is const, so it cannot be `mutable`, and returns
 *               nothing. Captured values live until the task has ended, also if it is cancelled. Kernels run on CPUs,
 *               and on emulated accelerators.
 *   names       The first argument of `submit` is the name of the codelet, under which its execution times are stored.
 *               There is one codelet per kernel type and name.
 *   errors      Functions throw heddle::error. An exception that leaves a kernel ends its task with an error, and is
 *               thrown again, as it was, by the wait that reports it; whoever only needed a value of that task gets a
 *               heddle::error whose status is HEDDLE_E_CANCELLED. Destructors do not throw; what one of them cannot do,
 *               the runtime's next wait throws.
 *   ownership   Objects go in the opposite order of their making, as a block of C++ does: pieces before data, data and
 *               groups before their runtime. Those that are left when their runtime is closed or destroyed, or their
 *               datum, have ended with it: their functions throw, their destructors do nothing. Views and pointers
 *               are not checked: those of a temporary end with it. The program's buffers are lent to the
 *               runtime until the data are destroyed. Objects can be moved, if anything, and not copied.
 *   threads     A runtime and handles may be used by any threads at once, also by kernels that capture them by
 *               reference; any other object by one at a time.
 *   C           `get()` gives the object of heddle.h that an object stands for: all of C's functions can be used on it.
 */
#ifndef HEDDLE_HPP
#define HEDDLE_HPP

#include <heddle/cpp/error.hpp>
#include <heddle/cpp/view.hpp>
#include <heddle/cpp/task.hpp>
#include <heddle/cpp/runtime.hpp>
#include <heddle/cpp/data.hpp>

#endif
