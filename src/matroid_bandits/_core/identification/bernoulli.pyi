# Nothing for Python callers: kernels cimport what they need.
