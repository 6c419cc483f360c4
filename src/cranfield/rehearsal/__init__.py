"""The rehearsal: a whole campaign over HTTP, with people who do things right and wrong.

It starts a real server on a free port of this machine, speaks to it as browsers and programs do,
kills it now and then, and tells whether what a campaign must hold held.
"""
