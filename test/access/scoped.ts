import { newApiToken } from '../../domain/access/api-tokens.ts';
import { appPermissions } from '../../domain/kernel/permissions/permissions.data.ts';
import type { TestApp, TestClient } from '../support/harness.ts';

/** Everything that the scopes of a token may name. */
export const allScopes = [...Object.keys(appPermissions), 'account'];

/** The same user by an API token with these scopes. */
export async function withScopes(t: TestApp, user: TestClient, scopes: string[]): Promise<TestClient> {
  const { token, hash, hint } = newApiToken();
  // noted as used for a long time to come, so that a refused request writes nothing
  const last_used_at = new Date(Date.now() + 24 * 60 * 60 * 1000);
  await t.services
    .db('api_tokens')
    .insert({ user_id: user.userId, name: 'Narrow', hash, hint, scopes, last_used_at });
  return t.by(token, user);
}

/** The scopes that a demand names. */
export const namedScopes = (demand: string): string[] =>
  allScopes.filter((scope) => wholeWord(scope).test(demand));

const wholeWord = (scope: string): RegExp =>
  scope === 'account' ? /scope account\b/ : new RegExp(`(^|[^\\w.])${scope.replace('.', '\\.')}($|[^\\w.])`);
