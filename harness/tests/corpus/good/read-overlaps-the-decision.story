# Both looks were out when the decision fell: each may have been before or after it, in whichever order they answer.
sent click submit K P
answered click 201 a running
sent look.1 read a
sent look.2 read a
answered look.2 200 a succeeded winner=1 result=x version=2
answered look.1 200 a running
sent look.3 read a
answered look.3 200 a succeeded winner=1 result=x version=2
