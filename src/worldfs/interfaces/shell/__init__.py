"""One actor's tree in a shell without a kernel's mount: an in-process interpreter of bash over the POSIX view."""
