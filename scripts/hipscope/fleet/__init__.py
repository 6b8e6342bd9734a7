"""From one GPU to a fleet: runs on many, what they say of each, and which one is the slow one."""
