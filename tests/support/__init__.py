"""What the tests of every area share: servers, rooms, and a model whose answers a test writes."""
