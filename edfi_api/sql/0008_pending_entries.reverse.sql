ALTER INDEX document_scoped_body RESET (gin_pending_list_limit);
