"""Sets as mixed integer programs, and HiGHS, which solves them."""
