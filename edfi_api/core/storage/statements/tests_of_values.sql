-- For a denied write: the policy's tests of the new values.
SELECT true AS is_same_identity{tests}
