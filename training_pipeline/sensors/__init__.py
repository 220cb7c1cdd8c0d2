"""What starts runs by itself: one thin sensor around the decision."""
