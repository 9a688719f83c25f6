DROP INDEX refusal_resolved;
