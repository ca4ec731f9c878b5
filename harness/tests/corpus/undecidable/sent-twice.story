# The same line twice: which of the two was answered?
sent click submit K P
again
answered click 201 a accepted
