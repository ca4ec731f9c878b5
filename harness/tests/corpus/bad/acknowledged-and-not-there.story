# The client was told of a job that nobody can read.
sent click submit K P
answered click 201 a accepted
sent look read a
answered look 404
