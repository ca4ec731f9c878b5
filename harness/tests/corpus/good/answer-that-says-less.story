# The answer to a cancel names no winner and no result; it contradicts nothing.
sent click submit K P
answered click 201 a running
sent look read a
answered look 200 a succeeded winner=1 result=x version=2
sent cancel cancel a
answered cancel 409 a succeeded version=2
