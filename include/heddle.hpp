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
 * The access mode stands in one place, `in(x)`, and decides the type of the kernel's view: for an access that only
 * reads, the elements are const, so that the compiler rejects a kernel that writes. The view also depends on the rank
 * of the datum: T * for 0, a single value; heddle::span<T> for 1, a vector; heddle::matrix_view<T> for 2, a
 * column-major matrix; heddle::view for 3 and 4.
 *
 *   kernels     A kernel is called on a copy of the lambda, which is const, so it cannot be `mutable`, and returns
 *               nothing. Captured values live until the task has ended, also if it is cancelled. Kernels run on CPUs,
 *               and on emulated accelerators.
 *   names       The first argument of `submit` is the name of the codelet, under which its execution times are stored.
 *               There is one codelet per kernel type and name.
 *   errors      Functions throw heddle::error. An exception that leaves a kernel ends its task with an error, and is
 *               thrown again, unchanged, by the wait that reports it; a wait for a task that needed a value of the
 *               failed task throws a heddle::error whose status is HEDDLE_E_CANCELLED. Destructors do not throw; the
 *               runtime's next wait throws the error of a destructor.
 *   ownership   Destroy objects in the opposite order of their construction, as a block of C++ does: pieces before
 *               data, data and groups before their runtime. When a runtime or a datum is closed or destroyed, the
 *               objects that belong to it end: their functions throw, their destructors do nothing. Views and pointers
 *               are not checked: views of a temporary end with the temporary. The program's buffers are lent to the
 *               runtime until the data are destroyed. Objects cannot be copied; some can be moved.
 *   threads     Any threads may use a runtime and handles at once, also kernels that capture them by reference; any
 *               other object may be used by one thread at a time.
 *   C           `get()` gives the object of heddle.h for which an object stands: all functions of C can be used on it.
 */
#ifndef HEDDLE_HPP
#define HEDDLE_HPP

#include <heddle/cpp/error.hpp>
#include <heddle/cpp/view.hpp>
#include <heddle/cpp/task.hpp>
#include <heddle/cpp/runtime.hpp>
#include <heddle/cpp/data.hpp>

#endif
