public import EntityStore
