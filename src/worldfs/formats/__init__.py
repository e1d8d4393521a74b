"""The formats floor: text to nouns and back, losslessly. Knows no store, no tree, no job life."""
