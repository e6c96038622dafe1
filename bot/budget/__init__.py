"""What a team may spend on models in a day."""
