"""What scikit-learn's checks demand and ordered grades forbid."""

TEXT = "the alphabet is no order of grades: text labels need classes="
TEXT_CHECKS = {"check_classifiers_classes": TEXT}
