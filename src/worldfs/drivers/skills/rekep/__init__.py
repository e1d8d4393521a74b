"""ReKep: tasks as relational keypoint constraints, stage by stage, solved and watched (reference "Embodied" §9.5)."""
