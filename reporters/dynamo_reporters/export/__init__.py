"""`dynamo export`: the page and the document."""
