class SportModeState_:
    pass
