-- The ETag is made of `modified_at`, so that it changes with the rule. A rule that is not left out any more is not retired.
INSERT INTO validation_rule AS r (
    source, identifier, version, digest, file, language, resource, severity, category, short_description, description,
    help_url, external_id, logic, is_active, declared_parameters
) VALUES (
    %(source)s, %(identifier)s, %(version)s, %(digest)s, %(file)s, %(language)s, %(resource)s, %(severity)s,
    %(category)s, %(short)s, %(description)s, %(help_url)s, %(external_id)s, %(logic)s, %(active)s,
    %(declared_parameters)s
)
ON CONFLICT (source, identifier) DO UPDATE SET
    version = excluded.version, digest = excluded.digest, file = excluded.file, language = excluded.language,
    resource = excluded.resource, severity = excluded.severity, category = excluded.category,
    short_description = excluded.short_description, description = excluded.description, help_url = excluded.help_url,
    external_id = excluded.external_id, logic = excluded.logic, is_active = excluded.is_active,
    declared_parameters = excluded.declared_parameters,
    retired_at = CASE WHEN r.is_switched_off OR NOT (excluded.is_active OR r.is_switched_on) THEN r.retired_at END,
    modified_at = CASE
        WHEN r.retired_at IS NOT NULL AND NOT r.is_switched_off AND (excluded.is_active OR r.is_switched_on)
          OR (r.version, r.digest, r.severity, r.category, r.short_description, r.description, r.help_url, r.external_id,
              r.logic, r.is_active, r.declared_parameters)
             IS DISTINCT FROM
             (excluded.version, excluded.digest, excluded.severity, excluded.category, excluded.short_description,
              excluded.description, excluded.help_url, excluded.external_id, excluded.logic, excluded.is_active,
              excluded.declared_parameters)
        THEN now() ELSE r.modified_at END
RETURNING id, is_on, parameters, published_version, published_basis
