import { type FieldError, fieldError } from '../../../platform/errors.ts';
import { outgoingErrors } from '../../analysis/ai/ai.outgoing.ts';
import { isMailAddress } from '../../kernel/mail/mail.enqueue.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import {
  type PlainSetting,
  type SettingGroup,
  type SettingValues,
  settingDefaults,
} from '../../kernel/settings/settings.read.ts';
import { currencies } from './currencies.data.ts';
import { isPublicIssuer } from './settings.sso.ts';
import { vocabularyErrors } from './settings.vocabulary.ts';

/** The data that a value is checked against. */
export interface SettingSurroundings {
  metamodel: Metamodel;
  /** Keys of the workspace's roles that are not archived. */
  roles: ReadonlySet<string>;
}

type Rule<V> = (value: V, around: SettingSurroundings) => FieldError[];
type Rules = { [K in PlainSetting | SettingGroup]?: Rule<SettingValues[K]> };

const unless = (holds: boolean, field: string, code: string, message: string): FieldError[] =>
  holds ? [] : [fieldError(field, code, message)];

/** Whether the text is a web URL without credentials. */
function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.username === '' &&
    url.password === '' &&
    !/\s/.test(text)
  );
}

const webAddress = (field: string, text: string): FieldError[] =>
  unless(
    text === '' || isWebAddress(text),
    field,
    'format',
    'is no web address such as https://estate.example',
  );

const host = (field: string, text: string): FieldError[] =>
  unless(
    /^$|^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$|^\[?[0-9a-f:.]+\]?$/i.test(text),
    field,
    'format',
    'is no host name',
  );

const dateParts = /^(?:D{1,2}|M{1,4}|YYYY|YY)$/;

/** Whether it contains day, month and year exactly once, such as `DD MMM YYYY`. */
function isDateFormat(text: string): boolean {
  const parts = text.split(/[ ./,-]+/);
  const letters = parts.map((part) => part[0]).sort();
  return parts.every((part) => dateParts.test(part)) && letters.join('') === 'DMY';
}

/** The search engines that can be selected. */
const searchProviders: readonly string[] = ['duckduckgo', 'searxng'];

const rules: Rules = {
  currency: (code) =>
    unless(currencies.has(code), 'currency', 'unknown_currency', 'is no currency code of ISO 4217'),
  date_format: (format) =>
    unless(
      isDateFormat(format),
      'date_format',
      'format',
      'holds day (D, DD), month (M, MM, MMM, MMMM) and year (YY, YYYY) once each, parted by blanks or one of . / , -',
    ),
  bpm_row_order: (order) =>
    unless(
      order.toSorted().join() === settingDefaults.bpm_row_order.toSorted().join(),
      'row_order',
      'not_a_permutation',
      `holds each of ${settingDefaults.bpm_row_order.join(', ')} once`,
    ),
  exchange_rates: (rates) => [
    ...rates.flatMap(({ currency }, index) =>
      unless(
        currencies.has(currency),
        `rates.${index}.currency`,
        'unknown_currency',
        'is no currency code of ISO 4217',
      ),
    ),
    ...repeated(
      rates.map(({ currency }) => currency),
      'rates',
      'currency',
    ),
  ],
  cost_kinds: (kinds) =>
    repeated(
      kinds.map(({ key }) => key),
      'kinds',
      'key',
    ),
  flow_frequencies: (frequencies) =>
    repeated(
      frequencies.map(({ key }) => key),
      'frequencies',
      'key',
    ),
  cors_origins: (origins) =>
    origins.flatMap((origin, index) =>
      unless(
        isWebAddress(origin) && new URL(origin).origin === origin,
        `origins.${index}`,
        'format',
        'is no origin such as https://portal.example, in lower case and without a path',
      ),
    ),
  eol_source: (address) => webAddress('url', address),
  login_branding: ({ login_help_link: link }) =>
    unless(
      link === '' || isWebAddress(link) || (link.startsWith('mailto:') && isMailAddress(link.slice(7))),
      'login_help_link',
      'format',
      'is neither a web address nor mailto: with an e-mail address',
    ),
  email: (email) => [
    ...host('smtp_host', email.smtp_host),
    ...unless(isMailAddress(email.smtp_from), 'smtp_from', 'format', 'is no e-mail address'),
    ...webAddress('app_base_url', email.app_base_url),
    ...webAddress('oauth_token_url', email.oauth_token_url),
    ...(email.smtp_auth === 'oauth2' && email.smtp_host !== ''
      ? (['smtp_user', 'oauth_token_url', 'oauth_client_id'] as const).flatMap((field) =>
          unless(email[field] !== '', field, 'required', 'is needed for a login by OAuth 2.0'),
        )
      : []),
  ],
  mail_recipients: (domains) =>
    domains.flatMap((name, index) => unless(domain.test(name), `domains.${index}`, 'format', 'is no domain')),
  registration_policy: ({ allowed_domains, role }, { roles }) => [
    ...allowed_domains.flatMap((name, index) =>
      unless(domain.test(name), `allowed_domains.${index}`, 'format', 'is no domain'),
    ),
    ...unless(roles.has(role), 'role', 'unknown_role', 'is no role of the workspace'),
  ],
  matching_vocabulary: vocabularyErrors,
  sso: checkSso,
  ai: (ai, { metamodel }) => [
    ...webAddress('provider_url', ai.provider_url),
    ...webAddress('search_url', ai.search_url),
    ...unless(
      searchProviders.includes(ai.search_provider),
      'search_provider',
      'unknown_provider',
      `is none of ${searchProviders.join(', ')}`,
    ),
    ...outgoingErrors(metamodel, ai.outgoing_fields),
    ...ai.enabled_types.flatMap((type, index) =>
      unless(metamodel.cardTypes.has(type), `enabled_types.${index}`, 'unknown_type', 'is no card type'),
    ),
  ],
};

/** The errors of values that occur more than once in a list. */
const repeated = (values: readonly string[], list: string, member: string): FieldError[] =>
  values.flatMap((value, index) =>
    unless(
      values.indexOf(value) === index,
      `${list}.${index}.${member}`,
      'duplicate',
      'occurs more than once',
    ),
  );

const domain = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;
const endpoints = ['issuer_url', 'authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

function checkSso(sso: SettingValues['sso'], { roles }: SettingSurroundings): FieldError[] {
  const missing = (field: keyof SettingValues['sso']) =>
    sso.enabled && sso[field] === ''
      ? [fieldError(field, 'required', 'is needed to switch the login on')]
      : [];
  return [
    ...endpoints.flatMap((field) => webAddress(field, sso[field])),
    ...unless(sso.domain === '' || domain.test(sso.domain), 'domain', 'format', 'is no domain'),
    ...unless(
      sso.tenant_id === '' || domain.test(sso.tenant_id),
      'tenant_id',
      'format',
      'is neither the id nor the domain of a tenant',
    ),
    ...sso.group_roles.flatMap(({ role }, index) =>
      unless(roles.has(role), `group_roles.${index}.role`, 'unknown_role', 'is no role of the workspace'),
    ),
    ...sso.redirect_uris.flatMap((uri, index) =>
      uri === ''
        ? [fieldError(`redirect_uris.${index}`, 'required', 'must not be empty')]
        : webAddress(`redirect_uris.${index}`, uri),
    ),
    ...unless(
      !sso.enabled || !isPublicIssuer(sso) || sso.domain !== '' || sso.group_roles.length > 0,
      'domain',
      'required',
      'or group_roles is needed: anybody in the world can have an account at this provider',
    ),
    ...missing('client_id'),
    ...(sso.provider === 'microsoft' ? missing('tenant_id') : []),
    ...(sso.provider === 'okta' ? missing('domain') : []),
    ...(sso.provider === 'oidc' ? missing('issuer_url') : []),
  ];
}

/** The errors of a value, by the members under which it was sent. */
export function settingErrors<K extends PlainSetting | SettingGroup>(
  key: K,
  value: SettingValues[K],
  around: SettingSurroundings,
): FieldError[] {
  const rule = rules[key] as Rule<SettingValues[K]> | undefined;
  return rule?.(value, around) ?? [];
}
