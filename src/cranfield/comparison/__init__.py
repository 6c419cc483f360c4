"""Is the difference between runs real?"""
