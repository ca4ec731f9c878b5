# A click, a look while it runs, a look when it is over.
sent click submit K P
answered click 201 a accepted
sent look.1 read a
answered look.1 200 a running
called A a 1
released A
replied A answer-A
sent look.2 read a
answered look.2 200 a succeeded winner=1 result=answer-A version=2
counted K 1
