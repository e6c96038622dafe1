"""What people see, as blocks; pure."""
