"""Work behind the pages: threads that take jobs, and the child that alone opens the truth."""
