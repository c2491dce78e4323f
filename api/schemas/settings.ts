import Type, { type TSchema } from 'typebox';
import { closed, Nullable, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';

/** One line of text: it is shown in titles and mails. */
const line = (maxLength: number, description?: string) =>
  Type.String({
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    ...(description ? { description } : {}),
  });
const flag = (description: string) => Type.Boolean({ description });
const address = line(500);
const choice = <T extends string>(values: readonly T[], description?: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    description ? { description } : {},
  );
const secret = line(
  2000,
  '`********` while one is set: sent back it leaves the secret as it is; an empty text takes it away',
);

/** All members optional, and null for the default: what a PATCH takes. */
export function patchOf(members: Record<string, TSchema>) {
  return Type.Object(
    Object.fromEntries(
      Object.entries(members).map(([name, schema]) => [name, Type.Optional(Nullable(schema))]),
    ),
    closed,
  );
}

export const currencyCode = Type.String({
  pattern: '^[A-Z]{3}$',
  examples: ['EUR'],
  description: 'A code of ISO 4217',
});
export const dateFormat = Type.String({
  minLength: 5,
  maxLength: 20,
  examples: ['DD MMM YYYY'],
  description:
    'Day (`D`, `DD`), month (`M`, `MM`, `MMM`, `MMMM`) and year (`YY`, `YYYY`) with blanks or `.`, `/`, `,`, `-` between',
});
export const eolSource = line(
  500,
  'An address that answers as version 1 of the endoflife.date API; empty for none',
);
export const appTitle = line(64, 'Empty for the name of the product');
export const month = Type.Integer({
  minimum: 1,
  maximum: 12,
  description: 'The first month of the fiscal year',
});
export const archiveDays = Type.Integer({
  minimum: 0,
  maximum: 36_500,
  description: 'Archived cards are deleted after so many days; 0: never',
});
export const rowOrder = Type.Array(choice(['management', 'core', 'support']), {
  minItems: 3,
  maxItems: 3,
  uniqueItems: true,
  description: 'Rows of the process map, from the top',
  examples: [['core', 'management', 'support']],
});
export const origins = Type.Array(Type.String({ maxLength: 300 }), {
  maxItems: 100,
  uniqueItems: true,
  examples: [['https://portal.example']],
  description: 'Whose pages may call the API from a browser; none: nobody’s',
});
export const tokenDays = Type.Integer({
  minimum: 1,
  maximum: 3650,
  description:
    'The longest life of personal and service tokens that are made from now on; those that exist stay',
});

export const digestMinutes = Type.Integer({
  minimum: 1,
  maximum: 1440,
  description: 'Nobody is sent mails of notifications more often; what comes in between is gathered',
});

export const brandingMembers = {
  login_tagline: line(200),
  login_tagline_hidden: Type.Boolean(),
  login_help_text: Type.String({ maxLength: 500, description: 'Plain text' }),
  login_help_link: line(300, 'A web address, or `mailto:` with an e-mail address'),
};

export const emailMembers = {
  smtp_host: line(255, 'Empty: no mails are sent'),
  smtp_port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  smtp_user: line(320, 'Empty: no login'),
  smtp_password: secret,
  smtp_from: line(320, 'The sender’s e-mail address'),
  smtp_tls: flag(
    'Whether the connection must be encrypted: from the beginning on port 465, else by STARTTLS',
  ),
  app_base_url: line(500, 'Where the application is opened; mails lead there'),
};

export const ssoMembers = {
  enabled: Type.Boolean(),
  provider: choice(['microsoft', 'google', 'okta', 'oidc']),
  client_id: line(200),
  client_secret: secret,
  tenant_id: line(200, 'For `microsoft`: the id or domain of the tenant, or `organizations`'),
  domain: line(253, 'For `okta`: the organisation’s domain; else the only domain whose people may log in'),
  issuer_url: line(500, 'For `oidc`: the issuer, whose discovery document names the endpoints'),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  group_roles: Type.Array(
    Type.Object(
      { group: Type.String({ minLength: 1, maxLength: 300 }), role: Type.String({ maxLength: 64 }) },
      closed,
    ),
    {
      maxItems: 200,
      description: 'Groups of the provider with the role that members get; the first that fits wins',
    },
  ),
  group_claim: line(100, 'The claim that names the groups'),
  redirect_uris: Type.Array(Type.String({ maxLength: 1000 }), {
    maxItems: 20,
    description: 'Addresses that people may come back to, besides those below `app_base_url`',
  }),
};

export const aiMembers = {
  enabled: Type.Boolean(),
  provider_type: choice(['ollama', 'openai', 'azure_openai', 'anthropic', 'gemini']),
  provider_url: address,
  api_key: secret,
  model: line(200),
  api_version: line(50),
  search_provider: Type.String({
    pattern: '^[a-z0-9_]{1,50}$',
    examples: ['duckduckgo'],
    description: '`duckduckgo` or `searxng`',
  }),
  search_url: address,
  enabled_types: Type.Array(Type.String({ maxLength: 100 }), {
    maxItems: 500,
    uniqueItems: true,
    description: 'Card types for which suggestions are made; none: all',
  }),
  portfolio_insights_enabled: Type.Boolean(),
  tokens_per_run: Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'What one run may spend' }),
  tokens_per_day: Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'In UTC, all together' }),
  calls_per_day: Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Requests sent, in UTC' }),
  outgoing_fields: Type.Record(
    Type.String({ minLength: 1, maxLength: 100 }),
    Type.Array(Type.String({ maxLength: 200 }), { maxItems: 500, uniqueItems: true }),
    {
      maxProperties: 500,
      description:
        'What of a card a provider is sent, by card type; `*` for all types that are not named. Fields: `name`, `alias`, `description`, `subtype`, `lifecycle`, `attributes.<key>`, and `attributes.*` for all attributes but costs. A change replaces it whole',
      examples: [{ '*': ['name', 'attributes.*'], Application: ['name', 'description'] }],
    },
  ),
};

const days = (minimum: number, description: string) =>
  Type.Integer({ minimum, maximum: 36_500, description });

export const retentionMembers = {
  events_days: days(400, 'Events of the change feed and the audit log'),
  jobs_days: days(1, 'Finished jobs with their results; routine ones go earlier'),
  notifications_days: days(1, 'Notifications'),
  files_days: days(0, 'Deleted files, which can be brought back until then'),
  idempotency_hours: Type.Integer({
    minimum: 24,
    maximum: 8_760,
    description: 'Answers kept for repetitions with the same `Idempotency-Key`',
  }),
  batches_days: days(1, 'Mutation batches, which can be undone until then'),
  itsm_runs_days: days(1, 'Runs of the synchronisation that have ended, which can be taken back until then'),
  analysis_runs_days: days(
    1,
    'Runs of analyses that have ended, but for those of which something shown comes; and what searches for duplicates learned and use no more',
  ),
};

export const registrationMembers = {
  allowed_domains: Type.Array(Type.String({ maxLength: 253 }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Domains of the e-mail addresses that may register; none: any',
    examples: [['estate.example']],
  }),
  approval_required: flag('Whether an account is inactive until an administrator activates it'),
  role: Type.String({ maxLength: 64, description: 'What an account gets', examples: ['viewer'] }),
};

export const settingSchemas = {
  login_branding: Type.Object(brandingMembers, { $id: 'LoginBranding', ...closed }),
  email: Type.Object(
    { ...emailMembers, configured: flag('Whether mails can go out') },
    { $id: 'EmailSettings', ...closed },
  ),
  sso: Type.Object(ssoMembers, { $id: 'SsoSettings', ...closed }),
  ai: Type.Object(aiMembers, { $id: 'AiSettings', ...closed }),
  registration_policy: Type.Object(registrationMembers, { $id: 'RegistrationPolicy', ...closed }),
  retention: Type.Object(retentionMembers, { $id: 'RetentionSettings', ...closed }),
};

export const McpStatus = Type.Object(
  { enabled: Type.Boolean(), sso_configured: flag('Whether people log in through a provider') },
  closed,
);

/** Whether a try worked, and what came of it. */
export const TestOutcome = Type.Object(
  { success: Type.Boolean(), message: Type.String() },
  { $id: 'TestOutcome', ...closed },
);

const labelled = {
  id: Uuid,
  key: Type.String(),
  label: Type.String(),
  description: Nullable(Type.String()),
  is_enabled: Type.Boolean(),
  built_in: Type.Boolean(),
  sort_order: Type.Integer(),
  translations: OpenObject,
};

/** What an application needs to start, before anybody has logged in. */
export const BootstrapSchema = Type.Object(
  {
    currency: currencyCode,
    date_format: Type.String(),
    app_title: Type.String(),
    bpm_enabled: Type.Boolean(),
    ppm_enabled: Type.Boolean(),
    ai_analysis_enabled: Type.Boolean(),
    grc_enabled: Type.Boolean(),
    file_uploads_enabled: Type.Boolean(),
    fiscal_year_start: Type.Integer(),
    archive_retention_days: Type.Integer(),
    bpm_row_order: Type.Array(Type.String()),
    show_principles_tab: Type.Boolean(),
    compliance_regulations: Type.Array(Type.Object(labelled, closed)),
    resource_types: Type.Array(
      Type.Object({ ...labelled, kind: Type.String(), icon: Nullable(Type.String()) }, closed),
    ),
    login_tagline: Type.String(),
    login_tagline_hidden: Type.Boolean(),
    login_help_text: Type.String(),
    login_help_link: Type.String(),
    smtp_configured: Type.Boolean(),
  },
  { $id: 'Bootstrap', ...closed },
);
