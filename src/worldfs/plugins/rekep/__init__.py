"""ReKep: tasks as relational keypoint constraints, stage by stage, solved and watched (ReKep, arXiv 2409.01652)."""
