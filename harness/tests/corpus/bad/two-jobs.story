# Two clicks at once, two jobs.
sent click.1 submit K P
sent click.2 submit K P
answered click.1 201 a accepted
answered click.2 201 b accepted
