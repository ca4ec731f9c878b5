# The call was let go before it was there.
sent click submit K P
answered click 201 a running
released A
called A a 1
sent look read a
answered look 200 a succeeded winner=1 result=x version=2
