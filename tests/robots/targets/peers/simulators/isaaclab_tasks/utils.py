"""Settings of a task by its name."""


def parse_env_cfg(task_name, device="cuda:0", num_envs=None, use_fabric=None):
    return {"task": task_name, "device": device, "num_envs": 4096 if num_envs is None else num_envs}
