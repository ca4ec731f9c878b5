# Over for one client, running for another who asked later.
sent click submit K P
answered click 201 a running
sent look.1 read a
answered look.1 200 a succeeded winner=1 result=x version=2
sent look.2 read a
answered look.2 200 a running
