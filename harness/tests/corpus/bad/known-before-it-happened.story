# The result is told while the provider still holds the call that brings it.
sent click submit K P
answered click 201 a running
called A a 1
sent look read a
answered look 200 a succeeded winner=1 result=x version=2
released A
replied A x
