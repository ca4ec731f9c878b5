# The duplicate of the request is answered from a copy that is behind.
sent click submit K P
answered click 201 a running
sent look read a
answered look 200 a failed version=2
sent again submit K P
answered again 200 a running
