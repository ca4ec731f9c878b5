# The first click was answered into nowhere, the second finds the job.
sent click.1 submit K P
lost click.1
sent click.2 submit K P
answered click.2 200 a accepted
sent look read a
lost look
