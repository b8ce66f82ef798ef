"""Values and mathematics shared by all packages."""
