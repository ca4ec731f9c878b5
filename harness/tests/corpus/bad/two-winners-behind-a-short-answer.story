# The first answer names no winner, so it contradicts neither of the others; they contradict each other.
sent click submit K P
answered click 201 a running
sent look.1 read a
sent look.2 read a
sent look.3 read a
answered look.1 200 a succeeded version=2
answered look.2 200 a succeeded winner=1 version=2
answered look.3 200 a succeeded winner=2 version=2
