# A job that was over is cancelled.
sent click submit K P
answered click 201 a running
sent look.1 read a
answered look.1 200 a succeeded winner=1 result=x version=2
sent cancel cancel a
answered cancel 200 a cancelled version=3
