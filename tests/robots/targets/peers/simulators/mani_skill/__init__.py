"""A stand-in of ManiSkill 3's interface, as its documents have it: batches of tensors on the physics' device."""
