import type { Caller } from './context.ts';

/** Time after a login in which its tokens and cookies can be renewed, in seconds: 30 days. */
export const LOGIN_SECONDS = 30 * 24 * 60 * 60;

/** The claims of an access token that identify a session. */
export interface TokenClaims {
  sub: string;
  jti: string;
  /** The user's token version when the token was issued. */
  tv: number;
  /** Seconds since 1970. */
  exp: number;
  iat: number;
  /** When the user logged in, in seconds since 1970: unchanged in refreshed tokens. Absent in older tokens: `iat`. */
  auth_time?: number;
  /** The key of the role that an administrator impersonates. */
  impersonated_role?: string;
  /** Set if the token can only be used to set up the second factor. */
  use?: 'two_factor_setup';
  /** Set if the token is the cookie of a session of the web interface: `jti` is the id of the session. */
  web?: true;
}

/** A personal or service token, identified by its SHA-256. */
export interface ApiTokenKey {
  hash: string;
}

/** The credentials of a request. */
export type Credential = TokenClaims | ApiTokenKey;

export interface SessionSnapshot {
  /** The caller, or undefined if the token is revoked, outdated or its user inactive. */
  caller: Caller | undefined;
  /** Versions of all topics, read in the same query. */
  topics: ReadonlyMap<string, number>;
}

/** Reads the user of a token and the topic versions, not older than the call. */
export interface SessionReader {
  read(credential: Credential | null): Promise<SessionSnapshot>;
}
