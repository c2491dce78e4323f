import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { permissionsOfRole, requireGrantable } from '../../kernel/permissions/grants.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import type { SettingKey, SettingValues } from '../../kernel/settings/settings.defaults.ts';
import type { SecretGroup, secretMembers } from '../../kernel/settings/settings.secrets.ts';
import { loadSettings } from '../../kernel/settings/settings.state.ts';
import type { SettingGroup } from '../../kernel/settings/settings.views.ts';

/**
 * What somebody reaches by changing a setting, besides the setting itself: nothing, the rights of every account, the
 * rights of the role of those who register, or what the named permissions allow.
 */
export type Reach = 'nothing' | 'every account' | 'registration role' | readonly AppPermission[];

type Members<K extends SettingGroup> = {
  readonly [M in keyof SettingValues[K]]: Reach;
} & (K extends SecretGroup ? { readonly [M in (typeof secretMembers)[K]]: Reach } : unknown);

/**
 * The reach of every setting, of groups member by member with their secrets. Whoever changes a setting holds what it
 * reaches. The type has no default: a setting that is not listed does not compile.
 */
export const settingReach: { readonly [K in SettingKey]: K extends SettingGroup ? Members<K> : Reach } = {
  currency: 'nothing',
  date_format: 'nothing',
  app_title: 'nothing',
  login_branding: {
    login_tagline: 'nothing',
    login_tagline_hidden: 'nothing',
    login_help_text: 'nothing',
    // people enter their passwords on the page that shows it
    login_help_link: 'every account',
  },
  // shows and hides a card type with its relation types
  bpm_enabled: ['admin.metamodel'],
  ppm_enabled: 'nothing',
  grc_enabled: 'nothing',
  ai_analysis_enabled: 'nothing',
  file_uploads_enabled: 'nothing',
  bpm_row_order: 'nothing',
  fiscal_year_start: 'nothing',
  // cards that were archived longer ago are deleted for good
  archive_retention_days: ['inventory.delete'],
  // whoever lets people register could register himself
  registration_enabled: 'registration role',
  registration_policy: {
    allowed_domains: 'registration role',
    approval_required: 'registration role',
    role: 'registration role',
  },
  principles_display: 'nothing',
  // a program acts with the rights of its own token
  mcp_enabled: 'nothing',
  // without it, a password alone is enough for any account
  two_factor_required: 'every account',
  api_token_max_days: 'nothing',
  retention: {
    events_days: 'nothing',
    jobs_days: 'nothing',
    notifications_days: 'nothing',
    files_days: 'nothing',
    idempotency_hours: 'nothing',
    batches_days: 'nothing',
    itsm_runs_days: 'nothing',
    analysis_runs_days: 'nothing',
  },
  // pages of these origins send requests with the login of whoever opens them
  cors_origins: 'every account',
  eol_source: ['eol.manage'],
  notification_digest_minutes: 'nothing',
  // mails carry the tokens with which passwords are set, links lead to app_base_url, and what cannot be delivered
  // returns to smtp_from
  email: {
    smtp_host: 'every account',
    smtp_port: 'every account',
    smtp_user: 'every account',
    smtp_from: 'every account',
    smtp_tls: 'every account',
    app_base_url: 'every account',
    smtp_password: 'every account',
  },
  // the provider says who somebody is, and with which role
  sso: {
    enabled: 'every account',
    provider: 'every account',
    client_id: 'every account',
    tenant_id: 'every account',
    domain: 'every account',
    issuer_url: 'every account',
    authorization_endpoint: 'every account',
    token_endpoint: 'every account',
    jwks_uri: 'every account',
    group_roles: 'every account',
    group_claim: 'every account',
    redirect_uris: 'every account',
    client_secret: 'every account',
  },
  // the provider is sent what those who ask it may see; an account of one's own there shows it as well
  ai: {
    enabled: 'nothing',
    provider_type: 'every account',
    provider_url: 'every account',
    model: 'nothing',
    api_version: 'nothing',
    search_provider: 'every account',
    search_url: 'every account',
    enabled_types: 'nothing',
    portfolio_insights_enabled: 'nothing',
    tokens_per_run: 'nothing',
    tokens_per_day: 'nothing',
    calls_per_day: 'nothing',
    outgoing_fields: 'nothing',
    api_key: 'every account',
  },
  logo: 'nothing',
  favicon: 'nothing',
};

/** The permissions of a reach, in words; undefined for none. */
function neededFor(reach: Reach): string | undefined {
  if (reach === 'nothing') return undefined;
  if (reach === 'every account') return 'every permission';
  return reach === 'registration role'
    ? 'the permissions of the role that people register with'
    : reach.join(' and ');
}

/**
 * What a change of a setting needs besides its own permission, in words: parted by `; `, each with the members for
 * which it does unless that is all of them. Undefined where nothing is needed.
 */
export function reachNote(key: SettingKey): string | undefined {
  const reach: Reach | Record<string, Reach> = settingReach[key];
  if (typeof reach === 'string' || Array.isArray(reach)) return neededFor(reach as Reach);
  const members = Object.entries(reach as Record<string, Reach>);
  const byNeed = Map.groupBy(members, ([, of]) => neededFor(of));
  const notes = [...byNeed].flatMap(([need, of]) => {
    if (need === undefined) return [];
    const names = of.map(([name]) => `\`${name}\``);
    if (of.length === members.length) return [need];
    return [`${need} when ${names.length === 1 ? names[0] : `one of ${names.join(', ')}`} is changed`];
  });
  return notes.length > 0 ? notes.join('; ') : undefined;
}

/** The reach of one member of a setting; plain settings have no members. An unknown member reaches every account. */
function reachOf(key: SettingKey, member: string): Reach {
  const reach: Reach | Record<string, Reach> = settingReach[key];
  if (typeof reach === 'string' || Array.isArray(reach)) return reach as Reach;
  return (reach as Record<string, Reach>)[member] ?? 'every account';
}

/**
 * Refuses a change of a setting that leads to rights which the caller does not hold.
 * @param members what changes of a group, its secret included; anything for a plain setting.
 * @param role the role of those who register after the change; the present one unless given.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export async function requireReach(
  ctx: Ctx,
  sql: Sql,
  key: SettingKey,
  members: readonly string[],
  role?: string,
): Promise<void> {
  for (const reach of new Set(members.map((member) => reachOf(key, member)))) {
    if (reach === 'nothing') continue;
    if (reach === 'every account') requireGrantable(ctx.caller, { '*': true });
    else if (reach === 'registration role') {
      const { values } = await loadSettings(sql);
      requireGrantable(ctx.caller, await permissionsOfRole(sql, role ?? values.registration_policy.role));
    } else requireGrantable(ctx.caller, Object.fromEntries(reach.map((permission) => [permission, true])));
  }
}
