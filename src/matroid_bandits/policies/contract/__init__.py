"""What every policy can do, one subject per file; :class:`Policy` puts it together."""
