"""The files of Agent State v1: documents to nouns and back, losslessly."""
