"""The tree of one actor as a real directory: a server of the kernel's FUSE protocol, in plain asyncio."""
