// Statements that the compiler must reject, each behind a comment that says what is wrong; without WRONG nothing is.
#include <memory>
#include <vector>
#include <heddle.hpp>

void right(heddle::runtime &rt, heddle::data<double, 1> &x, heddle::data<const double, 1> &constant)
{
	rt.submit("right", in(constant), inout(x),
	          [](heddle::span<const double> a, heddle::span<double> b) { b[0] = a[0]; });
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
	/* a value of C's interface that is aligned to more than values are */
	heddle_submit(rt.get(), heddle_value(wide));
}
#endif
