"""JSON body → coerced and validated document, with identity, references and securables. Pure Python."""
