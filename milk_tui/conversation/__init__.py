"""What happens when you press Enter. Knows agents and storage, not the screen."""
