# The job is gone, and the service stands by it.
sent click submit K P
answered click 201 a accepted
sent look.1 read a
answered look.1 200 a succeeded winner=1 result=x version=2
sent late submit K P
answered late 410
sent look.2 read a
answered look.2 404
