"""Score likelihood: the noise matrix under which out-of-fold scores best explain the recorded labels."""
