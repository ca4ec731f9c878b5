# The loser of the race is told to come back, and does.
sent click.1 submit K P
sent click.2 submit K P
answered click.2 409
answered click.1 201 a accepted
sent click.3 submit K P
answered click.3 200 a accepted
