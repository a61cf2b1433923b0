"""Memory as tools, resources and a prompt of the Model Context Protocol.

Laws: whose memory it is stands in the configuration or in the URL, never in an argument. What is remembered is framed
as untrusted wherever a model may read it. Nothing but `server`, `stdio` and `http` imports the protocol's own library.
"""
