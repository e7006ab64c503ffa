// Statements that the compiler must reject, each behind a comment that says what is wrong; without WRONG nothing is.
#include <memory>
#include <vector>
#include <heddle.hpp>

void right(heddle::runtime &rt, heddle::data<double, 1> &x, heddle::data<const double, 1> &constant)
{
	rt.submit("right", in(constant), inout(x),
	          [](heddle::span<const double> a, heddle::span<double> b) { b[0] = a[0]; });
	rt.submit("context", in(x), [](heddle::context c, auto) { static_cast<void>(c.worker()); });
	rt.submit("a handle", in(heddle::handle<double, 1>(x)), [](auto...) {});
	auto lasting = x.split(4);
	auto access = in(lasting);
	rt.submit("stored", access, [](auto) {});
}

#ifdef WRONG
struct alignas(64) line {
	char text[64];
};

void wrong(heddle::runtime &rt, heddle::data<double, 1> &x, heddle::data<const double, 1> &constant)
{
	char name[] = "buffer";
	double s = 0;
	std::vector<std::unique_ptr<int>> pointers;
	heddle::data d(rt, s);
	line wide = {};
	/* a write through a read */
	rt.submit("write", in(x), [](auto v) { v[0] = 1; });
	/* a parameter that could write what the task reads */
	rt.submit("claim", in(x), [](heddle::span<double>) {});
	/* data that can only be read */
	rt.submit("const", inout(constant), [](auto) {});
	/* no access mode */
	rt.submit("mode", x, [](auto) {});
	/* fewer parameters than data */
	rt.submit("few", in(x), in(constant), [](auto) {});
	/* another type */
	rt.submit("type", in(x), [](heddle::span<const float>) {});
	/* a kernel that changes itself */
	rt.submit("mutable", [n = 0]() mutable { n++; });
	/* a name that may change */
	rt.submit(name, [] {});
	/* a result that nobody gets */
	rt.submit("result", in(x), [](auto v) { return v[0]; });
	/* no kernel */
	rt.submit("none", in(x));
	/* two owners */
	auto copy = x;
	/* data that are not made of bytes */
	heddle::data p(rt, pointers);
	/* a vector cut like a matrix */
	auto t = x.tiles(2, 2);
	/* a value that would be written where it is read */
	rt.submit("value", in(d), [](double *) {});
	/* a context that does not say that it is one */
	rt.submit("context", in(x), [](auto, auto) {});
	/* another type in the place of a context */
	rt.submit("pointer", in(x), [](heddle_context *, auto) {});
	/* pieces that are gone before a task uses them */
	auto of_pieces = in(x.split(4));
	/* a datum that is gone before a task uses it */
	auto of_datum = out(heddle::data<double, 1>(rt, 4));
	/* handles that are gone before a task uses them */
	auto of_handles = in(std::vector<heddle::handle<double, 1>>{x});
	/* a task that is gone before another waits for it */
	auto of_task = heddle::after(rt.async("first", [] {}));
	/* a value of C's interface that is aligned to more than values are */
	heddle_submit(rt.get(), heddle_value(wide));
}
#endif
