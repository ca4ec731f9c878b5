-- By what right an attempt is at its provider when nobody asked for it: which provider failed before, and how. Whoever
-- sends the attempt asks the gate once more, and has to ask the same question.
ALTER TABLE attempts
    ADD COLUMN moved_from text,
    ADD COLUMN moved_on   text,
    ADD CONSTRAINT attempts_moved CHECK ((moved_from IS NULL) = (moved_on IS NULL));
