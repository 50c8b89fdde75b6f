touch second
