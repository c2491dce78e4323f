import type { Caller } from './context.ts';

/** The claims of an access token that a session is looked up by. */
export interface TokenClaims {
  sub: string;
  jti: string;
  /** The user's token version when the token was made. */
  tv: number;
  /** Seconds since 1970. */
  exp: number;
  iat: number;
  /** When the person logged in, in seconds since 1970: refreshed tokens keep it. Absent in older tokens: `iat`. */
  auth_time?: number;
  /** The key of the role as which an administrator reads the service. */
  impersonated_role?: string;
  /** Set where the token only serves to set up the second factor. */
  use?: 'two_factor_setup';
}

/** A personal or service token, known by its SHA-256 alone. */
export interface ApiTokenKey {
  hash: string;
}

/** What a request shows to say who sends it. */
export type Credential = TokenClaims | ApiTokenKey;

export interface SessionSnapshot {
  /** The caller, or undefined when the token is revoked, stale or its user inactive. */
  caller: Caller | undefined;
  /** Versions of all topics, read in the same query. */
  topics: ReadonlyMap<string, number>;
}

/** Reads who a token represents, and the topics' versions, as they are after the call was made. */
export interface SessionReader {
  read(credential: Credential | null): Promise<SessionSnapshot>;
}
