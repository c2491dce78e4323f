import type { IDToken } from 'openid-client';
import type { TokenSubject } from '../../../domain/access/access.login.ts';
import { byAddress, throttle } from '../../../domain/access/access.throttle.ts';
import {
  HANDSHAKE_SECONDS,
  storeHandshake,
  takeHandshake,
} from '../../../domain/access/sso/sso.handshakes.ts';
import { loginByProvider, type ProviderIdentity } from '../../../domain/access/sso/sso.login.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { isMailAddress } from '../../../domain/kernel/mail/mail.enqueue.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  readSecret,
  readSetting,
  type SettingValues,
} from '../../../domain/kernel/settings/settings.read.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { storageErrors } from '../../../platform/storable.ts';
import { isShared, requiredDomain } from './sso.issuer.ts';
import {
  createAuthorizationUrl,
  exchangeCode,
  type Handshake,
  type ProviderAccess,
  type Redirected,
} from './sso.provider.ts';

type SsoSettings = SettingValues['sso'];

/** The data for the redirect to the provider. */
export interface BegunLogin {
  authorization_url: string;
  state: string;
  /** Seconds until the login attempt expires. */
  expires_in: number;
}

/**
 * Starts a login with the provider.
 * @throws EstateError `wrong_state` if single sign-on is disabled, `validation_failed` for a redirect URI that is not
 * allowed, `upstream_failed`, `too_many_requests`.
 */
export async function startSso(
  services: Services,
  ctx: Ctx,
  input: { redirect_uri: string; address: string },
): Promise<BegunLogin> {
  await throttle(ctx.db, 'sso', [byAddress(input.address)]);
  const access = await providerAccess(services);
  await requireAllowedRedirect(ctx, access.sso, input.redirect_uri);
  const { url, state, handshake } = await createAuthorizationUrl(access, input.redirect_uri);
  await storeHandshake(ctx.db, services.secrets, state, handshake);
  return { authorization_url: url, state, expires_in: HANDSHAKE_SECONDS };
}

/**
 * Completes a login with the provider, once per state.
 * @throws EstateError `invalid_credentials`, `sso_refused`, `wrong_state`, `upstream_failed`, `too_many_requests`.
 */
export async function finishSso(
  services: Services,
  ctx: Ctx,
  input: Redirected & { redirect_uri: string; address: string; languages: readonly string[] },
): Promise<TokenSubject> {
  await throttle(ctx.db, 'sso', [byAddress(input.address)]);
  const access = await providerAccess(services);
  const handshake = await takeHandshake<Handshake>(ctx.db, services.secrets, input.state);
  if (handshake?.redirect_uri !== input.redirect_uri) {
    const detail = 'The login attempt is unknown or has expired; start it again.';
    throw new EstateError('invalid_credentials', detail);
  }
  const claims = await exchangeCode(access, handshake, input);
  return await loginByProvider(ctx, identityOf(access.sso, claims), input);
}

async function providerAccess({ db, secrets, outbound }: Services): Promise<ProviderAccess> {
  const sso = await readSetting(db, 'sso');
  if (!sso.enabled || sso.client_id === '') {
    throw new EstateError('wrong_state', 'Single sign-on is disabled.');
  }
  return { outbound, sso, clientSecret: await readSecret(db, secrets, 'sso') };
}

/** Redirect URIs must be below the application's URL, or listed in the settings. */
async function requireAllowedRedirect(ctx: Ctx, sso: SsoSettings, redirectUri: string): Promise<void> {
  const { app_base_url: base } = await readSetting(ctx.db, 'email');
  if (sso.redirect_uris.includes(redirectUri)) return;
  if (base !== '' && isBelow(redirectUri, base)) return;
  throw invalidField('redirect_uri', 'not_registered', 'is not an allowed redirect URI');
}

function isBelow(address: string, base: string): boolean {
  const url = URL.parse(address);
  const root = URL.parse(base);
  if (!url || !root || url.origin !== root.origin || url.username !== '' || url.hash !== '') return false;
  return `${url.pathname}/`.startsWith(root.pathname.endsWith('/') ? root.pathname : `${root.pathname}/`);
}

/** Characters of `sub` at most, by OpenID Connect Core 1.0, section 2, and of an e-mail address, by RFC 5321. */
const MAX_SUBJECT = 255;
const MAX_EMAIL = 320;

/** Refuses claims that cannot be stored. @throws EstateError `sso_refused` */
function requireStorable({ iss, sub, email, name, ...claims }: IDToken, groupClaim: string): void {
  const [bad] = storageErrors({ iss, sub, email, name, [groupClaim]: claims[groupClaim] });
  const isSubject = sub.length > 0 && sub.length <= MAX_SUBJECT;
  const isEmail = typeof email !== 'string' || (email.length <= MAX_EMAIL && isMailAddress(email));
  if (bad || !isSubject || !isEmail) {
    const what = bad
      ? `${bad.field} ${bad.message}`
      : `its ${isSubject ? 'e-mail address is not valid' : 'subject is empty or too long'}`;
    const detail = `The identity provider sent an account that cannot be used: ${what}.`;
    throw new EstateError('sso_refused', detail);
  }
}

function identityOf(sso: SsoSettings, claims: IDToken): ProviderIdentity {
  requireStorable(claims, sso.group_claim);
  const email = typeof claims.email === 'string' ? claims.email : undefined;
  const domain = requiredDomain(sso).toLowerCase();
  const outside =
    sso.provider === 'google' ? claims.hd !== domain : !email?.toLowerCase().endsWith(`@${domain}`);
  if (domain !== '' && outside) {
    throw new EstateError('sso_refused', 'The domain of the account is not allowed to log in.');
  }
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: email !== undefined && isVerifiedAddress(sso, claims) ? email : undefined,
    displayName:
      typeof claims.name === 'string' && claims.name.trim() ? claims.name.trim().slice(0, 200) : undefined,
    groups: groupsOf(claims[sso.group_claim]),
    mayJoin: !isShared(sso),
  };
}

/** Whether the address is verified. Microsoft has no such claim; addresses of the configured tenant are set by its administrators. */
function isVerifiedAddress(sso: SsoSettings, claims: IDToken): boolean {
  if (sso.provider === 'microsoft' && claims.email_verified === undefined) {
    return !isShared(sso) || claims.xms_edov === true || claims.xms_edov === '1' || claims.xms_edov === 1;
  }
  return claims.email_verified === true;
}

function groupsOf(claim: unknown): string[] | undefined {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((group) => typeof group === 'string') : undefined;
}
