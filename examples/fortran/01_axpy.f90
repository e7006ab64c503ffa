! y := a x + y in pieces, with a kernel in Fortran; then a system of linear equations on the same runtime.
!
!   inc=$(pkg-config --variable=includedir heddle)
!   gfortran $inc/heddle.f90 $inc/heddle_dense.f90 01_axpy.f90 -o axpy $(pkg-config --libs heddle-dense)
module kernels
  use, intrinsic :: iso_c_binding
  use heddle
  implicit none
contains
  ! What a task runs: its data, and its values, are numbered from 0 as in C.
  function axpy(c) bind(c) result(status)
    type(c_ptr), value :: c
    integer(c_int) :: status
    real(c_double), pointer :: a, x(:), y(:)
    integer(c_size_t) :: n
    n = heddle_extent(c, 0_c_size_t, 0)
    call c_f_pointer(heddle_value_ptr(c, 0_c_size_t), a)
    call c_f_pointer(heddle_ptr(c, 0_c_size_t), x, [n])
    call c_f_pointer(heddle_ptr(c, 1_c_size_t), y, [n])
    y = a * x + y
    status = HEDDLE_OK
  end function
end module

program main
  use, intrinsic :: iso_c_binding
  use kernels
  use heddle
  use heddle_dense
  implicit none
  integer, parameter :: n = 1000, piece = 100
  character(kind=c_char, len=5), target :: name = "axpy" // c_null_char
  real(c_double), target :: a = 2, x(n) = 1, y(n) = 0
  real(c_double), target :: matrix(3, 3) = reshape([4d0, 2d0, 2d0, 2d0, 5d0, 3d0, 2d0, 3d0, 6d0], [3, 3])
  real(c_double), target :: b(3) = [8, 10, 11] ! then the solution is 1, 1, 1
  type(heddle_codelet_desc) :: desc
  type(c_ptr) :: rt, codelet, x_data(n / piece), y_data(n / piece), dense
  integer :: i
  call check(heddle_start(out=rt))

  desc%name = c_loc(name)
  desc%cpu = c_funloc(axpy)
  call check(heddle_codelet_create(rt, desc, codelet))
  do i = 1, n / piece
    call check(heddle_vector(rt, c_loc(x((i - 1) * piece + 1)), int(piece, c_size_t), c_sizeof(a), x_data(i)))
    call check(heddle_vector(rt, c_loc(y((i - 1) * piece + 1)), int(piece, c_size_t), c_sizeof(a), y_data(i)))
    call check(heddle_submit(rt, [heddle_call(codelet), heddle_r(x_data(i)), heddle_rw(y_data(i)), &
                                  heddle_bytes(c_loc(a), c_sizeof(a))]))
  end do
  do i = 1, n / piece ! waits for the tasks, and y has its values
    call check(heddle_unregister(x_data(i)))
    call check(heddle_unregister(y_data(i)))
  end do
  print "(a, f4.1)", "y = ", y(n)
  if (any(abs(y - 2) > 0)) error stop "y is wrong"

  call check(heddle_dense_open(rt, dense))
  call check(heddle_dense_posv(dense, HEDDLE_DENSE_LOWER, &
    heddle_dense_array(HEDDLE_DENSE_DOUBLE, 3, 3, c_loc(matrix), 3), &
    heddle_dense_array(HEDDLE_DENSE_DOUBLE, 3, 1, c_loc(b), 3)))
  print "(a, 3f4.1)", "b = ", b
  if (any(abs(b - 1) > 1d-12)) error stop "b is wrong"
  call heddle_dense_close(dense)
  call check(heddle_stop(rt))

contains
  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == HEDDLE_OK) return
    print "(a)", heddle_text(heddle_last_error())
    error stop 1
  end subroutine
end program
