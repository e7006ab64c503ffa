/* Views, by which kernels access data. Part of heddle.hpp. */
#ifndef HEDDLE_CPP_VIEW_HPP
#define HEDDLE_CPP_VIEW_HPP

#include <array>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <heddle/cpp/error.hpp>

namespace heddle
{

/* n consecutive elements. A span of T converts to a span of const T. */
template <class T> class span
{
public:
	using element_type = T;
	using value_type = std::remove_cv_t<T>;
	using iterator = T *;
	constexpr span() noexcept = default;
	constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
	template <class U, std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>, int> = 0>
	constexpr span(const span<U> &s) noexcept : data_(s.data()), size_(s.size())
	{
	}
	constexpr T *data() const noexcept { return data_; }
	constexpr std::size_t size() const noexcept { return size_; }
	constexpr bool empty() const noexcept { return size_ == 0; }
	constexpr T *begin() const noexcept { return data_; }
	constexpr T *end() const noexcept { return data_ + size_; }
	constexpr T &operator[](std::size_t i) const { return data_[i]; }
	constexpr T &front() const { return data_[0]; }
	constexpr T &back() const { return data_[size_ - 1]; }
	constexpr span subspan(std::size_t offset, std::size_t count) const { return {data_ + offset, count}; }

private:
	T *data_ = nullptr;
	std::size_t size_ = 0;
};

/* An array of `Rank` dimensions: element (i, j, ...) lies at data()[i + j * stride(1) + ...]. */
template <class T, unsigned Rank = 2> class view
{
public:
	using extents = std::array<std::size_t, Rank>;
	constexpr view(T *data, const extents &n, const extents &stride) noexcept : data_(data), n_(n), stride_(stride)
	{
	}
	template <class U, std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>, int> = 0>
	constexpr view(const view<U, Rank> &v) noexcept : data_(v.data())
	{
		for (unsigned d = 0; d < Rank; d++) {
			n_[d] = v.extent(d);
			stride_[d] = v.stride(d);
		}
	}
	constexpr T *data() const noexcept { return data_; }
	constexpr std::size_t extent(unsigned d) const { return n_[d]; }
	constexpr std::size_t stride(unsigned d) const { return stride_[d]; } /* in elements; stride(0) is 1 */
	constexpr std::size_t rows() const { return n_[0]; }
	constexpr std::size_t columns() const { return n_[1]; }
	constexpr std::size_t ld() const { return stride_[1]; } /* the leading dimension */
	template <class... Index> constexpr T &operator()(std::size_t i, Index... rest) const
	{
		static_assert(sizeof...(Index) + 1 == Rank, "as many indices as the view has dimensions");
		unsigned d = 0;
		((i += static_cast<std::size_t>(rest) * stride_[++d]), ...);
		return data_[i];
	}
	constexpr span<T> column(std::size_t j) const
	{
		static_assert(Rank == 2, "only a matrix has columns");
		return {data_ + j * stride_[1], n_[0]};
	}

private:
	T *data_;
	extents n_{}, stride_{};
};
template <class T> using matrix_view = view<T, 2>;

namespace detail
{

/* The type of the view of a datum, and its construction from part 0. */
template <class T, unsigned Rank> struct view_of {
	using type = view<T, Rank>;
	static type make(const heddle_part &part)
	{
		typename type::extents n, stride;
		for (unsigned d = 0; d < Rank; d++) {
			n[d] = part.n[d];
			stride[d] = part.stride[d];
		}
		return {static_cast<T *>(part.base), n, stride};
	}
};
template <class T> struct view_of<T, 1> {
	using type = span<T>;
	static type make(const heddle_part &part) { return {static_cast<T *>(part.base), part.n[0]}; }
};
template <class T> struct view_of<T, 0> {
	using type = T *;
	static type make(const heddle_part &part) { return static_cast<T *>(part.base); }
};

template <class T, unsigned Rank> typename view_of<T, Rank>::type view_in(heddle_context *c, std::size_t i)
{
	heddle_part part;
	check(heddle_context_part(c, i, 0, &part));
	return view_of<T, Rank>::make(part);
}

template <class C, class = void> inline constexpr bool has_elements = false;
template <class C> inline constexpr bool has_elements<C, std::void_t<decltype(std::data(std::declval<C &>()))>> = true;

} // namespace detail

/* The views of several data that form one access (`in(pieces)`). */
template <class T, unsigned Rank> class views
{
public:
	views(heddle_context *c, std::size_t first, std::size_t size) : context_(c), first_(first), size_(size) {}
	std::size_t size() const noexcept { return size_; }
	auto operator[](std::size_t i) const { return detail::view_in<T, Rank>(context_, first_ + i); }

private:
	heddle_context *context_;
	std::size_t first_, size_;
};

} // namespace heddle

#endif
