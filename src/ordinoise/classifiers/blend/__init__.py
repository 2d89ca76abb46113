"""The learners behind `OrdinalClassifier`, fitted on all folds but one and weighted by out-of-fold likelihood."""
