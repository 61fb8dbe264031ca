"""Floor 6: implementations of `ports.StorePort`. `sqlite` is the only one that ships; each is a package of its own."""
