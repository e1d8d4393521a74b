def make_teleoperator_from_config(config):
    if config.type == "so101_leader":
        from .so_leader import SO101Leader

        return SO101Leader(config)
    raise ValueError(f"Error creating device with config {config}")
