import { randomSecret, sha256 } from '../../platform/crypto.ts';

/** What every personal and service token begins with, so that one which has leaked is recognised. */
export const API_TOKEN_PREFIX = 'est_';

/** Characters of a token that may be shown: enough to tell it from others, too few to guess it. */
const HINT_LENGTH = API_TOKEN_PREFIX.length + 4;

export interface NewApiToken {
  /** Shown once. */
  token: string;
  hash: string;
  hint: string;
}

/** A new token of 256 random bits. */
export function newApiToken(): NewApiToken {
  const token = `${API_TOKEN_PREFIX}${randomSecret()}`;
  return { token, hash: sha256(token), hint: token.slice(0, HINT_LENGTH) };
}
