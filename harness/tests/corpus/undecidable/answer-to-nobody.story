# An answer to a request that is not in the history: its beginning is missing.
answered click 201 a accepted
sent look read a
answered look 200 a running
