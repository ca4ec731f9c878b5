# Two clicks at once, one job; the second answer comes first.
sent click.1 submit K P
sent click.2 submit K P
answered click.2 200 a accepted
answered click.1 201 a accepted
counted K 1
