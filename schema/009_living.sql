-- Schema 9: who lives is found without reading all that ever lived. The index holds them too, before those that are gone.

DROP INDEX process_gone;
CREATE INDEX process_gone ON process (gone_tick_id);
