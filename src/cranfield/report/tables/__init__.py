"""How each kind of answer becomes tables: a chapter per room, and nothing is computed here.

A chapter has a function per kind of answer that takes the answer and how it is looked at, and
gives a document: the JSON payload and the tables that show it. A class of answers names its
function in `table_maker`; `cranfield.report.document.document_of` calls it.
"""
