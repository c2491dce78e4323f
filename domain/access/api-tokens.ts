import Type from 'typebox';
import { randomSecret, sha256 } from '../../platform/crypto.ts';
import { Internal, type RowOf, rowModel, SqlArray } from '../kernel/resources/rows.ts';
import { Nullable, Timestamp, Uuid } from '../kernel/shapes.ts';

/** A personal or service token. */
export class ApiToken extends rowModel('api_tokens', {
  id: Uuid,
  user_id: Uuid,
  name: Type.String(),
  hash: Internal(Type.String()),
  hint: Type.String(),
  scopes: SqlArray(Type.String()),
  expires_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
}) {}
export type ApiTokenRow = RowOf<typeof ApiToken>;

/** The prefix of personal and service tokens, so that scanners recognise leaked ones. */
export const API_TOKEN_PREFIX = 'est_';

/** Number of characters of a token that may be shown: enough to identify it, too few to guess it. */
const HINT_LENGTH = API_TOKEN_PREFIX.length + 4;

export interface NewApiToken {
  /** Returned once. */
  token: string;
  hash: string;
  hint: string;
}

/** Creates a token of 256 random bits. */
export function newApiToken(): NewApiToken {
  const token = `${API_TOKEN_PREFIX}${randomSecret()}`;
  return { token, hash: sha256(token), hint: token.slice(0, HINT_LENGTH) };
}
