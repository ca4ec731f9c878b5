# Different keys are different jobs, and may be decided differently.
sent one submit K P
sent two submit L Q
answered one 201 a accepted
answered two 201 b accepted
sent look.1 read a
answered look.1 200 a succeeded winner=1 result=x version=2
sent look.2 read b
answered look.2 200 b failed version=2
