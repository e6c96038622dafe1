"""What needs torch: the training of the local evaluator's reader (`make test-training`)."""
