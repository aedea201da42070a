-- Schema 10: what storing costs.

-- What the store's thread used since the tick before: for storing it, and for rollups, retention and checkpoints. NULL: not known,
-- of older recorders.
ALTER TABLE tick ADD COLUMN storing_cpu_us INTEGER;
ALTER TABLE tick ADD COLUMN storing_wall_us INTEGER;
