"""Language models behind one port: endpoints and packages' models, opened by their settings and metered."""
