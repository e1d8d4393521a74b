"""One actor's tree as a POSIX file system: what the mount, the 9P listener and the in-process shell share."""
