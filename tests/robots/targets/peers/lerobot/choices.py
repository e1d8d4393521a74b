"""What draccus.ChoiceRegistry gives the library's configurations."""


class ChoiceRegistry:
    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        if not hasattr(cls, "_choice_registry"):
            cls._choice_registry = {}

    @classmethod
    def get_choice_class(cls, name):
        return cls._choice_registry[name]

    @classmethod
    def get_known_choices(cls):
        return cls._choice_registry

    @classmethod
    def get_choice_name(cls, subclass):
        return next(name for name, known in cls._choice_registry.items() if known is subclass)

    @classmethod
    def register_subclass(cls, name):
        def register(subclass):
            cls._choice_registry[name] = subclass
            return subclass

        return register
