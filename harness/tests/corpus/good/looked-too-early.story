# Somebody guessed the id and looked while the job was being made.
sent click submit K P
sent look read a
answered look 404
answered click 201 a accepted
