DROP INDEX refusal_open_sequence;
DROP INDEX refusal_natural_key;
DROP INDEX refusal_cause;
