"""What the site does: functions of a connection and plain values, without HTTP."""
