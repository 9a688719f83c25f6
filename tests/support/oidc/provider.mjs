// An OpenID provider on 127.0.0.1, by oidc-provider: access tokens (JWT) by client credentials, and logins of people
// by authorization code. Run by provider.py, with the path of its settings; prints a line when it listens.

import { readFileSync } from 'node:fs';
import { Provider } from 'oidc-provider';

const settings = JSON.parse(readFileSync(process.argv[2]));
const claimsOfClients = settings.claims_of_clients;
const people = settings.people;

const resourceServer = {
  scope: settings.resource_scope,
  audience: settings.audience,
  accessTokenFormat: 'jwt',
  accessTokenTTL: settings.token_seconds,
  jwt: { sign: { alg: settings.algorithm } },
};

const provider = new Provider(settings.issuer, {
  clients: settings.clients,
  clientDefaults: { id_token_signed_response_alg: settings.algorithm },
  jwks: settings.jwks,
  enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256'] },
  cookies: { keys: ['of-tests'] },
  // The claims of a person are in the ID token too, as most providers are set up.
  conformIdTokenClaims: false,
  claims: { openid: ['sub'], profile: ['name', 'given_name', 'family_name', 'preferred_username'], email: ['email', 'email_verified'], groups: ['groups'] },
  // Any password is right; a person who is not in the settings is refused.
  findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  extraTokenClaims: (_, token) => claimsOfClients[token.clientId],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      // People log in without a resource, and get an opaque access token for their claims.
      defaultResource: (ctx) => (ctx.oidc.params.grant_type === 'client_credentials' ? settings.audience : undefined),
      getResourceServerInfo: () => resourceServer,
      useGrantedResource: () => true,
    },
  },
});

provider.listen(settings.port, '127.0.0.1', () => console.log('listening'));
