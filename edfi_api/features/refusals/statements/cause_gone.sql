UPDATE refusal SET cause_gone = true, sequence = nextval('refusal_change')
 WHERE awaited = ANY (%(written)s::uuid[]) AND data_store = %(data_store)s
   AND direction = 'received' AND resolved_at IS NULL AND NOT cause_gone
