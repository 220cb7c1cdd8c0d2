"""How several annotators become one agreed label, per kind of answer."""
