"""Who answers: each agent turns a request into a stream of events."""
