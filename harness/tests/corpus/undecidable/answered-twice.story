# One request, two answers.
sent click submit K P
answered click 201 a running
again
sent look read a
answered look 200 a succeeded winner=1 result=x version=2
