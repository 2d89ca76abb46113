"""Is what the count of wrong labels says true at every stage: before, during and after a review?"""
