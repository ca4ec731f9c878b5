# Two lines changed places.
sent click submit K P
answered click 201 a running
answered look 200 a running
sent look read a
