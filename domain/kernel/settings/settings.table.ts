import Type from 'typebox';
import { Choice, itemsUpTo, keyed, object } from '../shapes.ts';
import { costKinds, exchangeRates } from './settings.costs.ts';
import { flowFrequencies } from './settings.data-flows.ts';
import { group, guarded, image, member, module, plain } from './settings.definition.ts';
import { languages } from './settings.languages.ts';
import { mailRecipients } from './settings.mail.ts';
import { matchingVocabulary } from './settings.vocabulary.ts';

/** One line of text, as in titles and mails. */
const line = (maxLength: number, description?: string) =>
  Type.String({
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    ...(description && { description }),
  });
const address = line(500);
const flag = (description?: string) => Type.Boolean(description ? { description } : {});
const count = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });
const days = (minimum: number, description: string) => count(minimum, 36_500, description);
const list = (maxLength: number, maxItems: number, options: Record<string, unknown> = {}) =>
  Type.Array(Type.String({ maxLength }), { maxItems, ...options });

/** Secrets are returned as a mask; this is the schema of requests and responses. */
export const Secret = line(
  2000,
  '`********` while one is set: sent back it leaves the secret unchanged; an empty text removes it',
);

/**
 * All settings of a workspace. Routes, their documentation, defaults, checks and workspace archives are derived from
 * this table.
 */
export const settingTable = {
  currency: plain(
    Type.String({ pattern: '^[A-Z]{3}$', examples: ['EUR'], description: 'A code of ISO 4217' }),
    'USD',
    ['currency', 'Currency', 'the currency of all amounts', 'currency'],
    {
      isOptional: true,
      readableBy: 'public',
      isPortable: true,
      example: 'EUR',
    },
  ),
  date_format: plain(
    Type.String({
      minLength: 5,
      maxLength: 20,
      examples: ['DD MMM YYYY'],
      description:
        'Day (`D`, `DD`), month (`M`, `MM`, `MMM`, `MMMM`) and year (`YY`, `YYYY`) with blanks or `.`, `/`, `,`, `-` between',
    }),
    'DD MMM YYYY',
    ['date-format', 'DateFormat', 'the format of dates', 'date_format'],
    {
      isOptional: true,
      readableBy: 'public',
      isPortable: true,
      example: 'YYYY-MM-DD',
    },
  ),
  app_title: plain(
    line(64, 'Empty for the name of the product'),
    '',
    ['app-title', 'AppTitle', 'the title of the application', 'app_title'],
    {
      isOptional: true,
      readableBy: 'public',
      isPortable: true,
      example: 'Landscape',
    },
  ),
  languages,
  login_branding: group(
    {
      login_tagline: member(line(200), ''),
      login_tagline_hidden: member(flag(), false),
      login_help_text: member(Type.String({ maxLength: 500, description: 'Plain text' }), ''),
      // Users enter their passwords on the page that shows it.
      login_help_link: guarded(line(300, 'A web address, or `mailto:` with an e-mail address'), ''),
    },
    ['login-branding', 'LoginBranding', 'the texts of the login page'],
    {
      isPortable: true,
      example: { login_tagline: 'All systems, on one map', login_help_link: 'mailto:help@estate.example' },
    },
  ),
  // Shows or hides a card type with its relation types.
  bpm_enabled: module('bpm-enabled', 'BpmEnabled', 'business process management', ['admin.metamodel']),
  ppm_enabled: module('ppm-enabled', 'PpmEnabled', 'project portfolio management'),
  grc_enabled: module('grc-enabled', 'GrcEnabled', 'governance, risk and compliance'),
  ai_analysis_enabled: module('ai-analysis-enabled', 'AiAnalysisEnabled', 'analysis by AI'),
  file_uploads_enabled: module('file-uploads-enabled', 'FileUploadsEnabled', 'attaching files'),
  bpm_row_order: plain(
    Type.Array(Choice(['management', 'core', 'support']), {
      minItems: 3,
      maxItems: 3,
      uniqueItems: true,
      description: 'Rows of the process map, from the top',
      examples: [['core', 'management', 'support']],
    }),
    ['management', 'core', 'support'],
    ['bpm-row-order', 'BpmRowOrder', 'the order of the rows of the process map', 'row_order'],
    {
      readableBy: 'public',
      isPortable: true,
      example: ['core', 'management', 'support'],
    },
  ),
  fiscal_year_start: plain(
    count(1, 12, 'The first month of the fiscal year'),
    1,
    ['fiscal-year-start', 'FiscalYearStart', 'the first month of the fiscal year', 'month'],
    {
      readableBy: 'public',
      isPortable: true,
      example: 4,
    },
  ),
  exchange_rates: exchangeRates,
  cost_kinds: costKinds,
  flow_frequencies: flowFrequencies,
  // Cards that were archived longer ago are deleted permanently.
  archive_retention_days: plain(
    days(0, 'Archived cards are deleted after so many days; 0: never'),
    30,
    ['archive-retention-days', 'ArchiveRetention', 'the retention of archived cards', 'days'],
    {
      readableBy: 'public',
      isPortable: true,
      example: 90,
      reach: ['inventory.delete'],
    },
  ),
  // A user who enables registration could register themselves.
  registration_enabled: plain(
    Type.Boolean(),
    false,
    ['registration', 'Registration', 'whether people may register themselves', 'enabled'],
    {
      readableBy: 'public',
      example: false,
      reach: 'registration role',
    },
  ),
  registration_policy: group(
    {
      allowed_domains: member(
        list(253, 100, {
          uniqueItems: true,
          description: 'Domains of the e-mail addresses that may register; none: any',
          examples: [['estate.example']],
        }),
        [],
        'registration role',
      ),
      approval_required: member(
        flag('Whether an account is inactive until an administrator activates it'),
        false,
        'registration role',
      ),
      role: member(
        Type.String({ maxLength: 64, description: 'The role of new accounts', examples: ['viewer'] }),
        'viewer',
        'registration role',
      ),
    },
    ['registration-policy', 'RegistrationPolicy', 'who may register, and with which role'],
    {
      description: 'The role is one whose permissions the caller has.',
      example: { allowed_domains: ['estate.example'], approval_required: true, role: 'viewer' },
    },
  ),
  principles_display: plain(
    Type.Boolean(),
    true,
    ['principles-display', 'PrinciplesDisplay', 'whether the architecture principles are shown', 'enabled'],
    {
      readableBy: 'public',
      isPortable: true,
      example: true,
    },
  ),
  // A program acts with the rights of its own token.
  mcp_enabled: plain(
    Type.Boolean(),
    false,
    ['mcp', 'McpSettings', 'whether the MCP server is enabled', 'enabled'],
    {
      isOptional: true,
      permission: 'admin.mcp',
      example: true,
    },
  ),
  // Without it, a password alone suffices for any account.
  two_factor_required: plain(
    Type.Boolean(),
    false,
    ['two-factor', 'TwoFactorSetting', 'whether local accounts need a second factor', 'required'],
    {
      example: true,
      reach: 'every account',
    },
  ),
  api_token_max_days: plain(
    count(1, 3650, 'The longest life of personal and service tokens that are created from now on'),
    365,
    ['api-token-life', 'ApiTokenLife', 'the longest life of API tokens', 'days'],
    {
      example: 90,
    },
  ),
  retention: group(
    {
      events_days: member(days(400, 'Events of the change feed and the audit log'), 400),
      jobs_days: member(days(1, 'Finished jobs with their results; routine ones are deleted earlier'), 90),
      notifications_days: member(days(1, 'Notifications'), 180),
      files_days: member(days(0, 'Deleted files, which can be restored until then'), 30),
      idempotency_hours: member(
        count(24, 8_760, 'Responses stored for repetitions with the same `Idempotency-Key`'),
        24,
      ),
      batches_days: member(days(1, 'Mutation batches, which can be undone until then'), 15),
      itsm_runs_days: member(days(1, 'Finished synchronisation runs, which can be undone until then'), 90),
      analysis_runs_days: member(
        days(
          1,
          'Finished runs of analyses, except those whose results are shown; and unused training data of duplicate searches',
        ),
        400,
      ),
    },
    ['retention', 'RetentionSettings', 'retention periods'],
    {
      description: 'What is older is deleted every hour.',
      example: { events_days: 730, notifications_days: 90 },
    },
  ),
  // Pages of these origins send requests with the login of the users who open them.
  cors_origins: plain(
    list(300, 100, {
      uniqueItems: true,
      examples: [['https://portal.example']],
      description: 'Origins whose pages may call the API from a browser',
    }),
    [],
    ['cors-origins', 'CorsOrigins', 'the origins whose pages may call the API', 'origins'],
    {
      example: ['https://portal.example'],
      reach: 'every account',
    },
  ),
  eol_source: plain(
    line(500, 'An address that answers as version 1 of the endoflife.date API; empty for none'),
    'https://endoflife.date/api/v1',
    ['eol-source', 'EolSource', 'the source of end-of-life facts', 'url'],
    {
      example: 'https://mirror.example/endoflife/api/v1',
      reach: ['eol.manage'],
    },
  ),
  notification_digest_minutes: plain(
    count(1, 1440, 'The minimum time between two mails of notifications to one user'),
    15,
    ['notification-digest', 'NotificationDigest', 'how often mails of notifications are sent', 'minutes'],
    {
      isPortable: true,
      example: 60,
    },
  ),
  mail_recipients: mailRecipients,
  // Mails contain the tokens with which passwords are set, links lead to app_base_url, and undeliverable mails return
  // to smtp_from.
  email: group(
    {
      smtp_host: guarded(line(255, 'Empty: no mails are sent'), ''),
      smtp_port: guarded(Type.Integer({ minimum: 1, maximum: 65_535 }), 587),
      smtp_user: guarded(line(320, 'Empty: no login'), ''),
      smtp_from: guarded(line(320, 'The sender’s e-mail address'), 'noreply@localhost'),
      smtp_tls: guarded(
        flag('Whether the connection must be encrypted: from the beginning on port 465, else by STARTTLS'),
        true,
      ),
      smtp_auth: guarded(
        Choice(
          ['password', 'oauth2'],
          'How `smtp_user` logs in: `smtp_password` is the password, or the secret of an OAuth 2.0 client (XOAUTH2)',
        ),
        'password',
      ),
      oauth_token_url: guarded(address, ''),
      oauth_client_id: guarded(line(200), ''),
      oauth_scope: guarded(line(500, 'Of the tokens; empty: none'), ''),
      app_base_url: guarded(line(500, 'The address of the application, for links in mails'), ''),
    },
    ['email', 'EmailSettings', 'the mail server'],
    {
      secret: 'smtp_password',
      destination: ['smtp_host', 'smtp_port', 'smtp_tls', 'smtp_auth', 'oauth_token_url'],
      example: { smtp_host: 'mail.estate.example', smtp_user: 'estate', smtp_password: 'a secret' },
    },
  ),
  // The provider determines the identity and role of users.
  sso: group(
    {
      enabled: guarded(flag(), false),
      provider: guarded(Choice(['microsoft', 'google', 'okta', 'oidc']), 'microsoft'),
      client_id: guarded(line(200), ''),
      tenant_id: guarded(
        line(200, 'For `microsoft`: the id or domain of the tenant, or `organizations`'),
        'organizations',
      ),
      domain: guarded(
        line(253, 'For `okta`: the organisation’s domain; else the only domain whose people may log in'),
        '',
      ),
      issuer_url: guarded(
        line(500, 'For `oidc`: the issuer, whose discovery document names the endpoints'),
        '',
      ),
      authorization_endpoint: guarded(address, ''),
      token_endpoint: guarded(address, ''),
      jwks_uri: guarded(address, ''),
      group_roles: guarded(
        Type.Array(
          object({
            group: Type.String({ minLength: 1, maxLength: 300 }),
            role: Type.String({ maxLength: 64 }),
          }),
          itemsUpTo(200, 'Groups of the provider with the role of their members; the first match applies'),
        ),
        [],
      ),
      group_claim: guarded(line(100, 'The claim that names the groups'), 'groups'),
      redirect_uris: guarded(
        list(1000, 20, {
          description: 'Addresses that the provider may redirect to, besides those below `app_base_url`',
        }),
        [],
      ),
    },
    ['sso', 'SsoSettings', 'single sign-on'],
    {
      secret: 'client_secret',
      destination: ['provider', 'tenant_id', 'domain', 'issuer_url', 'token_endpoint'],
      example: { enabled: true, provider: 'oidc', client_id: 'estate', issuer_url: 'https://login.example' },
    },
  ),
  // The provider receives data that its users may see; the provider's account also shows the requests.
  ai: group(
    {
      enabled: member(flag(), false),
      provider_type: guarded(Choice(['ollama', 'openai', 'azure_openai', 'anthropic', 'gemini']), 'ollama'),
      provider_url: guarded(address, ''),
      model: member(line(200), ''),
      api_version: member(line(50), '2025-01-01'),
      search_provider: guarded(
        Type.String({
          pattern: '^[a-z0-9_]{1,50}$',
          examples: ['duckduckgo'],
          description: '`duckduckgo` or `searxng`',
        }),
        'duckduckgo',
      ),
      search_url: guarded(address, ''),
      enabled_types: member(
        list(100, 500, {
          uniqueItems: true,
          description: 'Card types for which suggestions are made; none: all',
        }),
        [],
      ),
      portfolio_insights_enabled: member(flag(), false),
      tokens_per_run: member(count(0, 1_000_000_000, 'Maximum tokens of one run'), 500_000),
      tokens_per_day: member(count(0, 1_000_000_000, 'Maximum tokens of a day in UTC'), 2_000_000),
      calls_per_day: member(count(0, 1_000_000, 'Maximum requests of a day in UTC'), 5_000),
      outgoing_fields: member(
        keyed(100, list(200, 500, { uniqueItems: true }), {
          maxProperties: 500,
          description:
            'What of a card a provider is sent, by card type; `*` for all types that are not named. Fields: `name`, `alias`, `description`, `subtype`, `lifecycle`, `attributes.<key>`, and `attributes.*` for all attributes except costs. A change replaces the whole value',
          examples: [{ '*': ['name', 'attributes.*'], Application: ['name', 'description'] }],
        }),
        { '*': ['name', 'alias', 'subtype', 'lifecycle', 'attributes.*'] },
      ),
    },
    ['ai', 'AiSettings', 'the provider of AI'],
    {
      secret: 'api_key',
      destination: ['provider_type', 'provider_url'],
      example: { enabled: true, provider_type: 'anthropic', model: 'claude', api_key: 'a secret' },
    },
  ),
  matching_vocabulary: matchingVocabulary,
  logo: image,
  favicon: image,
};
