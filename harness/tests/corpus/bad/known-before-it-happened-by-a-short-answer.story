# The same, told by an answer that names no winner; a later one does.
sent click submit K P
answered click 201 a running
called A a 1
sent look.1 read a
answered look.1 200 a succeeded version=2
released A
replied A x
sent look.2 read a
answered look.2 200 a succeeded winner=1 result=x version=2
