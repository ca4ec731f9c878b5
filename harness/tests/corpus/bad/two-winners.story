# Two looks at once, and each is told of another winner.
sent click submit K P
answered click 201 a running
sent look.1 read a
sent look.2 read a
answered look.1 200 a succeeded winner=1 result=x version=2
answered look.2 200 a succeeded winner=2 result=x version=2
